//go:build unix && !linux

package posix

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// A Watcher only sleeps: nothing wakes a waiter here.
type Watcher struct{}

// Await returns after d or when ctx ends.
func (w *Watcher) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, clock.Boot{}, d)
}

// AwaitFile returns after d or when ctx ends.
func (w *Watcher) AwaitFile(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, clock.Boot{}, d)
}

// Close does nothing.
func (w *Watcher) Close() {}
