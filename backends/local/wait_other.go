//go:build !linux

package local

import (
	"context"
	"errors"
	"time"
)

// An inotify watches nothing here.
type inotify struct{}

// Close does nothing.
func (inotify) Close() {}

// A queue has no places on this system.
type queue struct{}

func (*queue) take(chan struct{}) File { return nil }

func (*queue) leave(chan struct{}) File { return nil }

// sleep ends after slowLook: nothing wakes a waiter on this system.
func (a *attempt) sleep(ctx context.Context, timeout time.Duration) error {
	return a.system.Rest(ctx, nil, min(timeout, a.pauses.NextOr(slowLook)))
}

// Queue implements System. This system has neither a queue nor seats.
func (m *machine) Queue(_ File, given func(error)) { given(errors.ErrUnsupported) }

// Seat implements System.
func (m *machine) Seat(File, int64) (bool, error) { return true, nil }

// Poll implements System.
func (m *machine) Poll(ctx context.Context, w Watched) error { return m.Rest(ctx, nil, w.Timeout) }

// Random implements System.
func (m *machine) Random(time.Duration) time.Duration { return 0 }
