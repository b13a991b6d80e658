package locksmith

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

const (
	// lastTry is how long a release may take that begins when the lease is over.
	lastTry = time.Second
	// ReleaseTimeout is how long a release is usually tried, however long the lease: who
	// waits for us to end should not wait for hours, and others can break who has ended.
	ReleaseTimeout = 10 * time.Second
	// deniedTime is how long it is tried again if it is not allowed.
	deniedTime = 5 * time.Second
)

// release is the state releasing: again and again until done, or until its time or
// the lease is over, after which the lock frees itself.
func (t *tenure) release() error {
	start, pause, level := t.now(), 10*time.Millisecond, hclog.Warn
	for cause := error(nil); ; {
		left := min(t.left(), start+t.helper.ReleaseTimeout-t.now())
		err := t.call(context.Background(), max(left, lastTry), max(left/2, lastTry), t.hold.Release)
		if errors.Is(err, errNoAnswer) && cause != nil {
			err = fmt.Errorf("%w, and before: %w", err, cause)
		}
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
		t.helper.Log.Log(level, "release failed, trying again", "lock", t.helper.Address, "for", left.Round(time.Millisecond), "error", err)
		cause, level = err, hclog.Debug // what follows is the same trouble, in other words
		clock.Sleep(context.Background(), t.clock(), pause)
		pause = min(2*pause, time.Second)
	}
}

// isDenied tells an error that hardly passes.
func isDenied(err error) bool {
	code := backend.CodeOf(err)
	return code == protocol.Permission || code == protocol.CannotCreate
}
