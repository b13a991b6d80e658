package backends

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"locksmith/backends/backend"
)

// IsFile reports whether a lock on a file system is, or would be, the very file that a
// path of this system leads to, however the two are spelled. It asks the file system only
// if their last names are the same: a lock's place may hang.
func IsFile(address, file string) bool {
	a, err := backend.ParseAddress(address, Usual().Schemes())
	if err != nil || a.Host != "" {
		return false
	}
	dir, base := path.Split(a.Path)
	if runtime.GOOS == "windows" {
		dir = strings.TrimPrefix(dir, "/") // of "/C:/locks/"
	}
	itsDir, itsBase := filepath.Split(file)
	return base == itsBase && sameDirectory(dir, itsDir)
}

// sameDirectory asks the system what links, "." and ".." mean; "" is the working directory.
func sameDirectory(a, b string) bool {
	if b == "" {
		b = "."
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// InFiles reports whether the lock at an address is of a usual kind on file systems: it keeps no
// connection to a server, and needs no other program.
func InFiles(address string) bool {
	return slices.ContainsFunc(Usual(), func(k Kind) bool { return k.has(address) && k.Port == "" })
}
