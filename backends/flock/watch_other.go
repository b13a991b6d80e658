//go:build unix && !linux

package flock

import (
	"context"
	"time"

	"locksmith/backends/clock"
)

// An inotify watches nothing here.
type inotify struct{}

// Close does nothing.
func (inotify) Close() {}

// slowLook is how often a waiter looks.
const slowLook = time.Second

// watch looks again after slowLook: here nothing wakes a waiter that may not sleep for good.
func (a *attempt) watch(ctx context.Context) error {
	clock.Sleep(ctx, a.request.Clock, a.pauses.NextOr(slowLook))
	return ctx.Err()
}
