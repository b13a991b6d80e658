//go:build unix

package soak

import (
	"context"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
)

// A shaky Locker lets some heartbeats fail once its helper has said that it holds the lock: they
// are not made, or the answer is lost.
type shaky struct {
	backend.Locker
	holds func() bool
}

func (s shaky) Attempt(r backend.Request) (backend.Attempt, error) {
	a, err := s.Locker.Attempt(r)
	return shakyAttempt{a, s.holds}, err
}

type shakyAttempt struct {
	backend.Attempt
	holds func() bool
}

func (a shakyAttempt) Try(ctx context.Context) (backend.Hold, error) {
	h, err := a.Attempt.Try(ctx)
	if err != nil {
		return nil, err
	}
	return &shakyHold{Hold: h, holds: a.holds}, nil
}

type shakyHold struct {
	backend.Hold
	holds func() bool
	beats int
}

// Heartbeat implements backend.Hold.
func (h *shakyHold) Heartbeat(ctx context.Context) error {
	if h.holds() {
		h.beats++
	}
	switch h.beats % 10 {
	case 3:
		return unix.EIO
	case 7:
		_ = h.Hold.Heartbeat(ctx)
		return unix.EIO
	}
	return h.Hold.Heartbeat(ctx)
}
