//go:build !linux

package local

import (
	"context"
	"time"

	"locksmith/backends/lockfile"
)

// A notifier watches nothing here.
type notifier struct{}

// Close does nothing.
func (notifier) Close() {}

// A queue has no places here.
type queue struct{}

func (*queue) leave(chan<- *lockfile.File) {}

// sleep looks again after slowLook: nothing wakes a waiter here.
func (a *attempt) sleep(outer context.Context, timeout time.Duration) error {
	ctx, cancel := a.withTimeout(outer, min(timeout, a.pauses.NextOr(slowLook)))
	defer cancel()
	<-ctx.Done()
	return waited(ctx, outer, ctx.Err())
}
