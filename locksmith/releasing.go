package locksmith

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

const (
	// lastTry is how long a release may take that begins when the lease is over.
	lastTry = time.Second
	// releaseTime is how long a release is tried, however long the lease: who waits
	// for us to end should not wait for hours, and others can break who has ended.
	releaseTime = time.Minute
	// deniedTime is how long it is tried again if it is not allowed.
	deniedTime = 5 * time.Second
)

// release is the state releasing: again and again until done, or until the
// lease is over and the lock frees itself.
func (t *tenure) release() error {
	start, pause := t.now(), 10*time.Millisecond
	for {
		left := min(t.left(), start+releaseTime-t.now())
		err := t.call(context.Background(), max(left, lastTry), max(left/4, lastTry), t.hold.Release)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, backend.ErrGone):
			return &LossError{Lock: t.helper.Address, Code: protocol.Gone, Err: err}
		case errors.Is(err, backend.ErrStays):
			return &LossError{Lock: t.helper.Address, Code: protocol.Unreleased, Err: err}
		case left <= pause, errors.Is(err, errNoAnswer), isDenied(err) && t.now() > start+deniedTime:
			return &LossError{Lock: t.helper.Address, Code: protocol.Unreleased, Err: err, Left: t.left()}
		}
		t.complain("release failed, trying again", err)
		clock.Sleep(context.Background(), t.clock(), pause)
		pause = min(2*pause, time.Second)
	}
}

// isDenied tells an error that hardly passes.
func isDenied(err error) bool {
	code := backend.CodeOf(err)
	return code == protocol.Permission || code == protocol.CannotCreate
}
