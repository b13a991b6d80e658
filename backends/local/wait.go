package local

import (
	"context"
	"time"

	"locksmith/backends/owner"
)

// slowLook is how often a waiter looks where the kernel cannot wake it: the
// holder is in another container, or notification is not to be had.
const slowLook = time.Second

// Wait implements backend.Attempt. It sleeps until the file goes, its keeper
// dies, or the lease says it may be broken.
func (a *attempt) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timeout := a.seen.due
	removed, err := a.seen.removal(ctx, a.lock.path)
	if err != nil {
		timeout = min(timeout, slowLook)
	}
	died, watched := a.keeperDies(ctx)
	if !watched {
		timeout = min(timeout, a.unwatchedLook())
	}
	var due <-chan time.Time
	if timeout != owner.Never {
		timer := a.request.Clock.NewTimer(timeout)
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-removed:
	case <-died:
	case <-due:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// keeperDies watches the process that keeps the lock. It reports false where
// its death would go unnoticed.
func (a *attempt) keeperDies(ctx context.Context) (<-chan struct{}, bool) {
	p, ok := a.seen.content.living(a.here)
	if !ok {
		return nil, false
	}
	died, err := p.Exited(ctx)
	return died, err == nil
}

// unwatchedLook is when to look again without a process to watch: never for a
// file whose end only its removal can tell, else soon, because somebody has
// the kernel lock of a holder that is dead or not visible.
func (a *attempt) unwatchedLook() time.Duration {
	if a.seen.locked {
		return slowLook
	}
	return owner.Never
}
