// Package other finds the programs that have kinds of locks which this one has not, and
// becomes them: another program runs in this process then, with the same pid, parent,
// arguments, environment and open files, so that nobody who started this one notices. It
// knows nothing of locks.
//
// A program is looked for beside this one, and then on PATH, where "." does not count.
package other

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the path of a program, or "" if there is none but this one itself, which
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

// Scheme returns the scheme of an address, if there can be a program for it: "s3" of
// "s3://bucket/lock". It is a lower-case letter, and then letters, digits, "+", "." or "-".
func Scheme(address string) (scheme string, ok bool) {
	scheme, _, ok = strings.Cut(address, ":")
	const letters, more = "abcdefghijklmnopqrstuvwxyz", "0123456789+.-"
	return scheme, ok && scheme != "" && len(scheme) <= 32 &&
		strings.Contains(letters, scheme[:1]) && strings.Trim(scheme, letters+more) == ""
}
