//go:build unix

package local

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/posix"
	"locksmith/protocol"
)

// options are those that an address of this scheme may have.
var options = map[string][]string{"fs": {"any"}, "dir": {"any"}, "empty": {"free"}}

// findDirectory returns an error if the directory of the lock is not there.
func (l *Lock) findDirectory() error {
	_, err := l.statDirectory()
	return err
}

func (l *Lock) statDirectory() (st unix.Stat_t, err error) {
	dir := filepath.Dir(l.path)
	if err := posix.RetryEINTR(func() error { return unix.Stat(dir, &st) }); err != nil {
		return st, backend.FileError(l.address, "look at directory "+dir, err)
	}
	return st, nil
}

// checkDirectory refuses places where this lock cannot keep its promise.
func (l *Lock) checkDirectory() error {
	st, err := l.statDirectory()
	if err != nil {
		return err
	}
	dir := filepath.Dir(l.path)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return backend.FileError(l.address, "look at directory "+dir, unix.ENOTDIR)
	}
	if st.Mode&unix.S_IWOTH != 0 && st.Mode&unix.S_ISVTX == 0 && !l.anyDir {
		return &backend.Error{Code: protocol.CannotCreate, Lock: l.address, Op: "look at directory " + dir,
			Err:  errors.New("everybody may remove files there: it is world-writable without the sticky bit"),
			Hint: "chmod +t it, or accept that with ?dir=any"}
	}
	if l.anyFS {
		return nil
	}
	return l.checkFileSystem(dir)
}
