package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// NewestToken implements backend.Backend.
func (l *Lock) NewestToken(context.Context) (uint64, error) { return 0, backend.ErrNoTokens }

// Break implements backend.Backend. It removes the file as every breaker does: it
// takes the kernel lock, which a helper that lives keeps, and only then reads whose
// file it is. Files of other tools have no id, but a sign: who has one locked with
// flock(1) is not hit; who opened it for that and has not locked it yet, is.
func (l *Lock) Break(_ context.Context, who string) error {
	if owner.IsID(who) {
		return l.breakIf("break "+who, func(c content) bool { return c.record != nil && c.record.ID == who })
	}
	return l.breakIf("remove lock file", func(c content) bool { return c.record == nil && c.sign() == who })
}

// breakIf removes the file if it is the one that is meant.
func (l *Lock) breakIf(op string, meant func(content) bool) error {
	f, err := l.open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := l.findDirectory(); err != nil {
			return err
		}
		return l.noSuch(op)
	case err != nil:
		return l.openError(err)
	}
	err = f.breakIf(meant)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNotOurs):
		return l.noSuch(op)
	}
	f.close()
	var lives livesError
	switch {
	case errors.As(err, &lives):
		return &backend.Error{Code: protocol.Held, Lock: l.address, Op: op, Err: err,
			Hint: fmt.Sprintf("end it where it runs: kill %d", lives.pid)}
	case errors.Is(err, errKept):
		return &backend.Error{Code: protocol.Held, Lock: l.address, Op: op, Err: err,
			Hint: "find out who with: fuser " + l.path}
	}
	return backend.FileError(l.address, op, err)
}

// livesError is backend.ErrLives with the helper's pid.
type livesError struct{ pid int }

func (livesError) Error() string { return backend.ErrLives.Error() }
func (livesError) Unwrap() error { return backend.ErrLives }

var errKept = errors.New("somebody else keeps a kernel lock on it")

// breakIf removes the file if it is the one that is meant. errNotOurs: it is not, or
// is gone. Nil and errNotOurs leave it closed.
func (f *file) breakIf(meant func(content) bool) error {
	free, err := f.lockAgainstBreakers()
	if err != nil {
		return err
	}
	c, err := f.read() // after the kernel lock, so that its maker is done writing
	switch {
	case err != nil:
		return err
	case !meant(c):
		f.close()
		return errNotOurs
	case !free && (c.record == nil || c.verdict(owner.Here()) == owner.Dead):
		return errKept
	case !free:
		return livesError{c.record.Helper.PID}
	}
	return f.remove()
}

// lockAgainstBreakers takes the kernel lock of a file that may be another's. Who
// just looks at it lets go at once; who holds the lock does not.
func (f *file) lockAgainstBreakers() (free bool, err error) {
	for range 20 {
		if free, err = f.tryLock(); free || err != nil {
			return free, err
		}
		time.Sleep(time.Millisecond)
	}
	return false, nil
}

func (l *Lock) noSuch(op string) error {
	return &backend.Error{Code: protocol.Gone, Lock: l.address, Op: op, Err: backend.ErrGone,
		Hint: "see who is there with: locksmith status"}
}
