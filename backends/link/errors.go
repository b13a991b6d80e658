//go:build unix

package link

import (
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

var (
	// errAbsent: a file is not there.
	errAbsent = errors.New("it is not there")
	// errSticky: only its own user may remove a dead holder's lock.
	errSticky = errors.New("only its owner may remove it")
)

func absent(err error) bool { return errors.Is(err, unix.ENOENT) }

// definite reports whether a call to make a name did nothing, and not because of the name. A
// server that crashed says EEXIST of what was our own work, and ENOENT may come from an old
// memory of it.
func definite(err error) bool {
	return err != nil && !backend.Unclear(err) && !backend.IsErrno(err, unix.EEXIST, unix.ENOENT)
}

// forbidden reports whether we may not make a call.
func forbidden(err error) bool { return backend.IsErrno(err, unix.EPERM, unix.EACCES) }

// fail gives a failed call its code and advice.
func (l *Lock) fail(op string, err error) error { return l.Address.Fail(op, err, explain) }

func explain(e *backend.Error) {
	switch {
	case e.BlameMount():
	case errors.Is(e.Err, unix.EEXIST):
		e.Code, e.Hint = protocol.CannotCreate, "find out what is there: locksmith doctor"
	case errors.Is(e.Err, unix.EINVAL): // a file that was just linked cannot be opened
		e.Code, e.Hint = protocol.CannotCreate, "use mkdir: with ?style=dir: no client of SMB does it"
	}
}

// linkOp is what was being done when a link was not what it should be.
const linkOp = "link the lock file"

// linkError explains why a file cannot be given another name.
func (l *Lock) linkError(err error) error {
	return l.Address.Fail(linkOp, err, func(e *backend.Error) {
		switch {
		case backend.IsErrno(err, unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK):
			// vfat and exFAT say EPERM; some servers, that one link is too many.
			e.Code, e.Hint = protocol.CannotCreate, "this file system has no hard links, or allows none: use mkdir: or local: instead, or another place"
		case errors.Is(err, unix.EXDEV):
			e.Code, e.Hint = protocol.CannotCreate, "this directory is spread over several file systems: use mkdir: or local: instead, or another place"
		}
	})
}

// lies says that the file system cannot be trusted.
func (l *Lock) lies(how string) error {
	return l.Address.Unfit(linkOp, how, "locks there are not safe: see locksmith doctor, and use mkdir: or another place")
}

// lost is the error of a hold whose file is gone.
func (l *Lock) lost(op string) error {
	return l.Address.Gone(op, "somebody broke the lock, or removed or replaced its file")
}
