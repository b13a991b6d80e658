//go:build unix

package generation

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

var (
	// errAgain: somebody else made progress; look again.
	errAgain = errors.New("the lock changed while we looked at it")
	// errBroken: our own reservation is gone, or was silent for too long.
	errBroken = errors.New("our reservation was given up")
)

// absent reports that a name leads nowhere. A stale handle proves nothing of the
// kind: it may be that of the whole export.
func absent(err error) bool { return errors.Is(err, unix.ENOENT) }

// forfeit reports that our own reservation is to be taken for gone.
func forfeit(err error) bool { return absent(err) || errors.Is(err, unix.ESTALE) }

// unclear reports that a call may or may not have taken effect: a soft mount
// gave up, or a signal came.
func unclear(err error) bool {
	return backend.IsErrno(err, unix.EIO, unix.ETIMEDOUT, unix.EINTR)
}

// perhaps reports that after a create the thing may be there. Whose it is the
// next steps find out by our own ticket, never by the return code: a server
// that crashed repeats EEXIST for what was our own work.
func perhaps(err error) bool {
	return err == nil || errors.Is(err, unix.EEXIST) || unclear(err)
}

// occupied reports that a directory was not removed because something is in it.
func occupied(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
}

// again is errAgain after an unclear answer. If it happens again and again, that
// is what is told.
func (l *Lock) again(op string, err error) error { return errors.Join(errAgain, l.Fail(op, err)) }

// Fail gives a failed call its code and advice.
func (l *Lock) Fail(op string, err error) error {
	var e *backend.Error
	if errors.As(err, &e) {
		return err // it has both
	}
	e = backend.FileError(l.Address, op, err)
	switch {
	case backend.Unclear(err), errors.Is(err, unix.ENOLCK):
		e.Code, e.Hint = protocol.Unreachable, "look at the server and the mount, then try again"
	case errors.Is(err, unix.ENOTEMPTY):
		e.Code, e.Hint = protocol.CannotCreate, "remove what somebody has put into it"
	case errors.Is(err, unix.EMLINK):
		e.Code, e.Hint = protocol.CannotCreate, "there are too many reservations: see locksmith status"
	}
	return e
}

// foreign says that something stands where only our own kind may stand.
func (l *Lock) foreign(what, cause string) error {
	return &backend.Error{Code: protocol.CannotCreate, Lock: l.Address, Op: "read " + what, Err: errors.New(cause),
		Hint: "nobody can tell whether the lock is held: make sure that nobody does, then move it away"}
}

// lost is the error of a hold whose reservation is gone.
func (l *Lock) lost(op string) error {
	return &backend.Error{Code: protocol.Gone, Lock: l.Address, Op: op, Err: backend.ErrGone,
		Hint: "somebody broke the lock or removed its reservation"}
}

func (l *Lock) usage(op, cause, hint string) error {
	return &backend.Error{Code: protocol.Usage, Lock: l.Address, Op: op, Err: errors.New(cause), Hint: hint}
}

func shown(s string) string { return fmt.Sprintf("%q", protocol.CleanText(s, 100)) }
