package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"locksmith/backends/backend"
)

// IsPublic reports whether everybody may remove files from a directory of this mode, also other
// people's.
func IsPublic(mode fs.FileMode) bool { return mode.Perm()&0o002 != 0 && mode&fs.ModeSticky == 0 }

// FindDirectory returns the mode of the directory that a lock is in, or an error that says why
// there is none. explain adds what the kind of lock knows about such errors (see
// backend.Name.Fail).
func FindDirectory(lock backend.Name, dir string, explain func(*backend.Error)) (fs.FileMode, error) {
	st, err := os.Stat(dir)
	var call *fs.PathError
	switch {
	case errors.As(err, &call):
		err = call.Err // without the path, which the message has already
	case err == nil && !st.IsDir():
		err = syscall.ENOTDIR
	}
	if err != nil {
		return 0, lock.Fail("look at directory "+dir, err, explain)
	}
	return st.Mode(), nil
}

// CheckDirectory is FindDirectory, but refuses a public directory, unless anybody may remove the
// lock.
func CheckDirectory(lock backend.Name, dir string, anybody bool, explain func(*backend.Error)) error {
	mode, err := FindDirectory(lock, dir, explain)
	if err == nil && IsPublic(mode) && !anybody {
		err = lock.Unfit("look at directory "+dir, "everybody may remove files there: it is world-writable without the sticky bit",
			"chmod +t it, or accept that with ?dir=any")
	}
	return err
}
