package ftp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

const (
	firstPause = time.Second // a server that is full, or away
	lastPause  = 10 * time.Second
	// Servers lock accounts and addresses for repeating what they refused.
	firstSilence = 30 * time.Second
	lastSilence  = 10 * time.Minute
)

// A door is how often we knock at a server that does not let us in. All
// connections of a lock share it.
type door struct {
	clock clock.Clock

	mu      sync.Mutex
	cause   error         // why we were not let in; nil: we were, or never came
	until   time.Duration // when to knock again
	pause   time.Duration // the last one after trouble
	silence time.Duration // the last one after a refusal
}

func newDoor() *door { return &door{clock: clock.Boot{}} }

// wait returns when it is time to knock. Where a log in was refused, that takes
// too long to wait for: then it returns the refusal.
func (d *door) wait(ctx context.Context) error {
	left, cause := d.closed()
	switch {
	case left <= 0:
		return nil
	case isRefusal(cause):
		return fmt.Errorf("%w; the server is not asked again for %v", cause, left.Round(time.Second))
	}
	clock.Sleep(ctx, d.clock, left)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%v; wait to connect again: %w", cause, err)
	}
	return nil
}

// closed returns for how long to stay away, and why.
func (d *door) closed() (left time.Duration, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cause == nil {
		return 0, nil
	}
	return d.until - d.clock.Now(), d.cause
}

// admitted notes that the server let us in.
func (d *door) admitted() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cause, d.pause, d.silence = nil, 0, 0
}

// turnedAway notes why it did not.
func (d *door) turnedAway(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cause = cause
	if isRefusal(cause) {
		d.silence = min(max(d.silence*2, firstSilence), lastSilence)
		d.until = d.clock.Now() + d.silence
		return
	}
	// It grows slowly, so that a holder is back soon after the server is.
	d.pause = min(max(d.pause*3/2, firstPause), lastPause)
	d.until = d.clock.Now() + d.pause
}

// isRefusal reports that a log in was refused for what it was.
func isRefusal(err error) bool { return backend.CodeOf(err) == protocol.Permission }
