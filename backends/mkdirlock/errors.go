package mkdirlock

import (
	"errors"
	"fmt"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
)

// fail gives a failed call its code and advice: those of a file system, or what a Dir's error says.
func (l *Lock) fail(op string, err error) error {
	return l.Address.Fail(op, err, func(e *backend.Error) {
		switch {
		case dirs.Unclear(err), errors.Is(err, dirs.ErrBusy):
			e.Code, e.Hint = protocol.Unreachable, "look at the server, then try again"
		case e.Code == protocol.Internal && dirs.Refused(err):
			e.Code, e.Hint = protocol.CannotCreate, "look at the path, and what this user may do there: locksmith doctor"
		}
	})
}

// lost is the error of a hold whose entry is gone.
func (l *Lock) lost(op string) error {
	return l.Address.Failure(protocol.Gone, op, backend.ErrGone, "somebody broke the lock or removed its directory")
}

// orphaned says that an empty lock directory may stay behind.
func (l *Lock) orphaned(op string) error {
	return l.Address.Failure(protocol.Unreachable, op,
		fmt.Errorf("the answer was lost, and there is an empty lock directory that may be ours or somebody else's: %w", backend.ErrStays),
		"if nobody uses the lock, remove it: locksmith reap")
}
