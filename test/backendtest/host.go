package backendtest

import (
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// Lease is the lease of a Host's requests.
const Lease = time.Minute

// BubbleTime is the clock of a synctest bubble since its beginning. clock.Runtime would be
// negative: it begins with this process, which is later.
type BubbleTime struct{ clock.Runtime }

// Now implements clock.Clock.
func (BubbleTime) Now() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// A Host is a machine whose helpers use a lock on fake time. Only that machine knows which of
// them are dead.
type Host struct {
	Name string
	Dead map[int]bool // by pid
}

// NewHost returns a host on which nobody is dead yet.
func NewHost(name string) Host { return Host{name, map[int]bool{}} }

// Judge is what the host knows of a holder.
func (h Host) Judge(r owner.Record) owner.Verdict {
	switch {
	case r.Place.Host != h.Name:
		return owner.Unknown
	case h.Dead[r.Helper.PID]:
		return owner.Dead
	}
	return owner.Alive
}

// Request is a request of a helper there, whose pid is 1.
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
