//go:build !linux

package local

import (
	"context"
	"time"
)

// A watcher watches nothing here.
type watcher struct{}

// Close does nothing.
func (watcher) Close() {}

// sleep looks again after slowLook: nothing wakes a waiter here.
func (a *attempt) sleep(outer context.Context, timeout time.Duration) error {
	ctx, cancel := a.withTimeout(outer, min(timeout, a.pauses.NextOr(slowLook)))
	defer cancel()
	<-ctx.Done()
	return waited(ctx, outer, ctx.Err())
}
