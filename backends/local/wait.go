package local

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/watch"
)

// slowLook is how often a waiter looks where the kernel cannot wake it: notification is not
// to be had.
const slowLook = time.Second

// Wait implements backend.Attempt. It sleeps until the file goes, the process dies that
// keeps it, or the lease says it may be broken. What happened since the last look counts
// as well: a process that is gone by now ends the wait at once, and so does a file with
// other content, even if it has the old inode number.
func (a *attempt) Wait(ctx context.Context) error {
	return a.sleep(ctx, a.seen.due)
}

// Rest implements System.
func (m *machine) Rest(outer context.Context, bell <-chan struct{}, timeout time.Duration) error {
	ctx, cancel := m.withTimeout(outer, timeout)
	defer cancel()
	select {
	case <-bell:
		return nil
	case <-ctx.Done():
		return waited(ctx, outer, ctx.Err())
	}
}

// withTimeout returns a context that ends after d, if that is not watch.Never.
func (m *machine) withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == watch.Never {
		return context.WithCancel(ctx)
	}
	return clock.WithTimeout(ctx, m.clock, d)
}

// waited turns the end of a wait's own context into nil.
func waited(ctx, outer context.Context, err error) error {
	if outer.Err() == nil && context.Cause(ctx) == clock.ErrTimeout {
		return nil
	}
	return err
}
