//go:build unix && !linux

package posix

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// A Notifier only sleeps: nothing wakes a waiter here.
type Notifier struct{}

// Await returns after d or when ctx ends.
func (w *Notifier) Await(ctx context.Context, _ string, _ process.Process, d time.Duration, _ ...int) {
	clock.Sleep(ctx, clock.Boot{}, d)
}

// AwaitFile returns after d or when ctx ends.
func (w *Notifier) AwaitFile(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, clock.Boot{}, d)
}

// Close does nothing.
func (w *Notifier) Close() {}
