package local

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// NewestToken implements backend.Backend.
func (l *Lock) NewestToken(context.Context) (uint64, error) { return 0, backend.ErrNoTokens }

// Strike implements backend.Backend. It removes the file as every breaker does: it takes the
// kernel lock, which a living helper keeps, and only then reads whose file it is. A file that is
// locked with flock(1) is not removed; a file that flock(1) has opened but not locked yet is.
func (l *Lock) Strike(_ context.Context, h backend.Holder) error {
	f, err := open(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return backend.ErrGone
	case err != nil:
		return l.openError(err)
	}
	err = l.breakFile(f, func(c content) bool {
		return c.Holds(h.ID) || h.ID == "" && c.Record == nil && c.sign() == h.Sign
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lockfile.ErrReplaced):
		return backend.ErrGone
	}
	_ = f.Close()
	op := h.BreakOp()
	var lives livesError
	switch {
	case errors.As(err, &lives):
		return l.address.Failure(protocol.Held, op, err, lives.holder.Ending())
	case errors.Is(err, errKept):
		return l.address.Failure(protocol.Held, op, err, "find out who with: fuser "+backend.ShellWord(l.path))
	}
	return l.fail(op, err)
}

// livesError is backend.ErrLives, with the record of the living holder.
type livesError struct{ holder *owner.Record }

func (livesError) Error() string { return backend.ErrLives.Error() }
func (livesError) Unwrap() error { return backend.ErrLives }

var errKept = errors.New("somebody else keeps a kernel lock on it")

// breakFile removes the file if it is the one that is meant. Its error is ErrReplaced if the file
// is another, or is gone. After nil and ErrReplaced the file is closed.
func (l *Lock) breakFile(f File, meant func(content) bool) error {
	free, err := f.LockWithin(breakerTimeout)
	if err != nil {
		return err
	}
	c, err := l.read(f) // read with the kernel lock in hand: the maker has finished writing
	switch {
	case err != nil:
		return err
	case !meant(c):
		_ = f.Close()
		return lockfile.ErrReplaced
	case !free && (c.Record == nil || c.verdict(owner.Here()) == owner.Dead):
		return errKept
	case !free:
		return livesError{c.Record}
	}
	return l.remove(f)
}

// breakerTimeout is how long a breaker waits for the kernel lock of a file. A living holder does
// not let go of it.
const breakerTimeout = 20 * time.Millisecond
