package programs

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns the path of a program, or "". This program itself does not count, because it
// would find itself again and again.
func Find(name string) string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	for _, candidate := range []string{filepath.Join(filepath.Dir(self), name), name} {
		if path, err := exec.LookPath(candidate); err == nil && !isSame(path, self) {
			return path
		}
	}
	return ""
}

func isSame(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
