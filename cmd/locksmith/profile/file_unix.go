//go:build unix

package profile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// dontWait keeps the opening of a FIFO from blocking until the FIFO has a writer.
const dontWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// checkAccess checks that others may not do what the guard forbids.
func (g guard) checkAccess(info fs.FileInfo, path string) error {
	owner := info.Sys().(*syscall.Stat_t).Uid
	mode := info.Mode().Perm()
	switch {
	case owner != 0 && int(owner) != os.Geteuid():
		return faulty("use a file of your own", "it belongs to user %d, neither to us nor to root", owner)
	case g == private && mode&fs.FileMode(private) != 0:
		return faulty("chmod 600 "+path, "others may read or write it (mode %04o)", mode)
	case mode&fs.FileMode(unwritable) != 0:
		return faulty("chmod go-w "+path, "others may write it (mode %04o)", mode)
	}
	dir := filepath.Dir(path)
	if around, err := os.Stat(dir); err == nil && around.Mode()&0o002 != 0 && around.Mode()&fs.ModeSticky == 0 {
		return faulty("chmod o-w "+dir, "everybody may put another file in its place (mode %04o of the directory)", around.Mode().Perm())
	}
	return nil
}
