package servers

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

// A Backoff spares a server that did not let us in: it says how long to wait before the next
// connection. All connections of a lock share it.
type Backoff struct {
	Clock clock.Clock

	mu        sync.Mutex
	cause     error          // why we were not let in; nil: we were, or have not tried
	until     time.Duration  // when to connect again
	pauses    backoff.Growth // after trouble
	authPause time.Duration  // the last pause after a log in that was refused
}

// NewBackoff returns a Backoff that allows the first connection at once.
func NewBackoff() *Backoff {
	return &Backoff{Clock: clock.Boot{}, pauses: backoff.Growth{First: firstPause, Most: lastPause}}
}

// Dial connects by connect, when it is time to, and notes what came of it. An error after the end of
// ctx tells nothing of the server.
func Dial[T any](ctx context.Context, b *Backoff, connect func(context.Context) (T, error)) (T, error) {
	if err := b.wait(ctx); err != nil {
		var none T
		return none, err
	}
	conn, err := connect(ctx)
	switch {
	case err == nil:
		b.Succeeded()
	case Over(ctx) == nil:
		b.Failed(err)
	}
	return conn, err
}

// Over is ctx's error, or that of its deadline. A connection with the same deadline may fail a
// little before the context ends.
func Over(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// wait returns when it is time to connect. After a refused log in that takes too long to wait
// for: then wait returns the refusal.
func (b *Backoff) wait(ctx context.Context) error {
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
