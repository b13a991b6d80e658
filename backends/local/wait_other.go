//go:build !linux

package local

import (
	"context"
	"time"
)

// A notifier watches nothing here.
type notifier struct{}

// Close does nothing.
func (notifier) Close() {}

// A queue has no places here.
type queue struct{}

func (*queue) take(chan struct{}) File { return nil }

func (*queue) leave(chan struct{}) File { return nil }

// sleeping is how a waiter waits: nothing wakes it here.
type sleeping interface {
	Rest(ctx context.Context, timeout time.Duration) error
}

// sleep looks again after slowLook.
func (a *attempt) sleep(ctx context.Context, timeout time.Duration) error {
	return a.system.Rest(ctx, min(timeout, a.pauses.NextOr(slowLook)))
}

// Rest implements System.
func (m *machine) Rest(outer context.Context, timeout time.Duration) error {
	ctx, cancel := m.withTimeout(outer, timeout)
	defer cancel()
	<-ctx.Done()
	return waited(ctx, outer, ctx.Err())
}
