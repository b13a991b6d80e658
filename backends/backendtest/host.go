package backendtest

import (
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// Lease is that of the requests of a Host.
const Lease = time.Minute

// BubbleTime is the clock of a synctest bubble since its beginning. That of
// clock.Runtime would be negative: it begins with this process, which is later.
type BubbleTime struct{ clock.Runtime }

// Now implements clock.Clock.
func (BubbleTime) Now() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// A Host is where helpers run that use a lock on fake time. Only there it is known which
// of them are dead.
type Host struct {
	Name string
	Dead map[int]bool // by pid
}

// NewHost returns one on which nobody is dead yet.
func NewHost(name string) Host { return Host{name, map[int]bool{}} }

// Judge is what is known there of a holder.
func (h Host) Judge(r owner.Record) owner.Verdict {
	switch {
	case r.Place.Host != h.Name:
		return owner.Unknown
	case h.Dead[r.Helper.PID]:
		return owner.Dead
	}
	return owner.Alive
}

// Request is one by a helper there, whose pid is 1.
func (h Host) Request(mode string) backend.Request {
	return backend.Request{
		Owner: owner.Record{Place: owner.Place{Host: h.Name}, Helper: process.Process{PID: 1}, User: "tester", Mode: mode, Lease: Lease},
		Clock: BubbleTime{}, Timeout: backend.NoLimit,
	}
}

// Keep beats until the test ends, as a holder does.
func Keep(t *testing.T, h backend.Hold) {
	t.Helper()
	ctx := t.Context()
	go func() {
		for ctx.Err() == nil {
			_ = h.Heartbeat(ctx)
			clock.Sleep(ctx, BubbleTime{}, Lease/4)
		}
	}()
}

// Between checks how long something took.
func Between(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s took %v, want %v to %v", what, got, low, high)
	}
}
