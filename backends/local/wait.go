package local

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/watch"
)

// slowLook is how often a waiter looks where the kernel does not notify it.
const slowLook = time.Second

// Wait implements backend.Attempt. It sleeps until the file goes, the process that keeps it dies,
// or its lease is over and it may be broken. Changes since the last look count as well: if the
// process is gone by now, or the file has other content, the wait ends at once, even if the inode
// number is the same.
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

// withTimeout returns a context that ends after d. If d is watch.Never, it has no timeout.
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
