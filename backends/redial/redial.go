// Package redial spares servers that do not let us in.
package redial

import (
	"context"
	"fmt"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

const (
	firstPause, lastPause = time.Second, 10 * time.Second // for a server that is full, or away
	// Servers lock accounts and addresses for repeating what they refused.
	firstAuthPause, lastAuthPause = 30 * time.Second, 10 * time.Minute
)

// A Backoff says how long to wait before the next connection to a server that did not let us in.
// All connections of a lock share it.
type Backoff struct {
	Clock clock.Clock

	mu        sync.Mutex
	cause     error          // why we were not let in; nil: we were, or have not tried
	until     time.Duration  // when to connect again
	pauses    backoff.Growth // after trouble
	authPause time.Duration  // the last pause after a log in that was refused
}

// New returns a Backoff that allows the first connection at once.
func New() *Backoff {
	return &Backoff{Clock: clock.Boot{}, pauses: backoff.Growth{First: firstPause, Most: lastPause}}
}

// Wait returns when it is time to connect. After a refused log in that takes too long to wait
// for: then Wait returns the refusal.
func (b *Backoff) Wait(ctx context.Context) error {
	left, cause := b.left()
	switch {
	case left <= 0:
		return nil
	case isRefusal(cause):
		return fmt.Errorf("%w; the server is not asked again for %v", cause, left.Round(time.Second))
	}
	clock.Sleep(ctx, b.Clock, left)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%v; wait to connect again: %w", cause, err)
	}
	return nil
}

// left returns how long to wait, and why.
func (b *Backoff) left() (left time.Duration, cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil {
		return 0, nil
	}
	return b.until - b.Clock.Now(), b.cause
}

// Succeeded notes that the server let us in.
func (b *Backoff) Succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause, b.authPause = nil, 0
	b.pauses.Reset()
}

// Failed notes why the server did not let us in.
func (b *Backoff) Failed(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause = cause
	if isRefusal(cause) {
		b.authPause = min(max(b.authPause*2, firstAuthPause), lastAuthPause)
		b.until = b.Clock.Now() + b.authPause
		return
	}
	// The pause grows slowly, so that a holder is back soon after the server is.
	b.until = b.Clock.Now() + b.pauses.Next()
}

// isRefusal reports that a log in was refused for what it was.
func isRefusal(err error) bool { return backend.CodeOf(err) == protocol.Permission }
