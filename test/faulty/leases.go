package faulty

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// A Pace is how a kind's waiters watch.
type Pace struct {
	Slack time.Duration // how late a waiter may be, because it pauses
	Pause time.Duration // for how long it may not look while a lease is not over
	// Lapses: whoever was silent for its lease has lost the lock, though nobody broke it.
	Lapses bool
	// Away are the errors of calls to a place that does not answer.
	Away []error
}

const (
	lease         = backendtest.Lease
	leaseAndDrift = lease + lease/100
)

// Leases makes sure that a silent holder is broken after its lease by the waiter's own clock, and at
// once by proof, and that nobody else is.
func Leases(t *testing.T, modes []string, pace Pace, place func(*testing.T) Place) {
	t.Helper()
	try := func(name string, test func(*scene)) {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(&scene{T: t, Place: place(t), fault: &Fault{off: true}}) })
		})
	}
	for _, holds := range modes {
		for _, takes := range modes {
			if holds != "shared" || takes != "shared" {
				try(takes+" after "+holds, func(s *scene) { s.silent(holds, takes, pace) })
			}
		}
	}
	try("a heartbeat starts the lease again", func(s *scene) { s.beats(pace) })
	if !pace.Lapses {
		try("a late heartbeat between two looks", (*scene).beatsLate)
		try("a strict waiter", (*scene).strict)
	}
	try("a respite elsewhere", func(s *scene) { s.respite("elsewhere", pace) })
	try("a respite on the same host", func(s *scene) { s.respite("here", pace) })
	if len(modes) > 1 {
		try("proof", (*scene).proof)
	}
	for _, err := range pace.Away {
		try("away: "+err.Error(), func(s *scene) { s.away(err, pace) })
	}
}

// took checks for how long a waiter waited.
func (s *scene) took(start time.Time, low, high time.Duration) {
	s.Helper()
	backendtest.Between(s.T, "waiting", time.Since(start), low, high)
}

func (s *scene) silent(holds, takes string, pace Pace) {
	old := s.stranger().take(s.T, holds)
	start := time.Now()
	h := acquired(s.T, s.victim().want(s.T, takes))
	s.took(start, leaseAndDrift, leaseAndDrift+pace.Slack)
	backendtest.MustBeLost(s.T, old)
	backendtest.MustStillHold(s.T, h)
	backendtest.MustRelease(s.T, h)
}

func (s *scene) beats(pace Pace) {
	old := s.stranger().take(s.T, "exclusive")
	beaten := make(chan error, 1)
	time.AfterFunc(lease/2, func() { beaten <- old.Heartbeat(context.Background()) })
	start := time.Now()
	acquired(s.T, s.victim().want(s.T, "exclusive"))
	backendtest.MustWork(s.T, <-beaten)
	s.took(start, lease/2+leaseAndDrift, lease/2+leaseAndDrift+pace.Pause+pace.Slack)
	backendtest.MustBeLost(s.T, old)
}

// beatsLate: a waiter must not break a holder whose heartbeat came before the waiter's last look.
func (s *scene) beatsLate() {
	// 1. A waiter watches for almost a lease.
	old := s.stranger().take(s.T, "exclusive")
	a := s.victim().want(s.T, "exclusive")
	backendtest.MustBeHeld(s.T, a)
	time.Sleep(leaseAndDrift - time.Millisecond)
	// 2. The holder beats.
	backendtest.MustStillHold(s.T, old)
	// 3. The lease is over, and the waiter looks.
	time.Sleep(time.Millisecond)
	s.mustBeHeldBy(a, old)
	backendtest.MustStillHold(s.T, old)
}

func (s *scene) mustBeHeldBy(a backend.Attempt, h backend.Hold) {
	s.Helper()
	if seen := backendtest.MustBeHeld(s.T, a).Holder; seen.Record == nil || seen.Record.ID != h.ID() {
		s.Errorf("the lock is held by %+v, want %s", seen, h.ID())
	}
}

// strict: a strict waiter never goes by the lease.
func (s *scene) strict() {
	old := s.stranger().take(s.T, "exclusive")
	p := s.victim()
	r := p.Request("exclusive")
	r.Strict = true
	ctx, cancel := clock.WithTimeout(s.Context(), backendtest.BubbleTime{}, 5*lease)
	defer cancel()
	a := p.ask(s.T, r)
	if h, err := backend.Acquire(ctx, a); !errors.Is(err, context.Canceled) {
		s.Errorf("a strict waiter got %v, %v; want that it waits to the end", h, err)
	}
	backendtest.MustWithdraw(s.T, a)
	backendtest.MustStillHold(s.T, old)
	backendtest.MustRelease(s.T, old)
	if left := s.Left(); len(left) > 0 {
		s.Errorf("a free lock leaves %q", left)
	}
}

// respite: who seems dead, by its lease or by proof, is watched for a while.
func (s *scene) respite(taker string, pace Pace) {
	const respite = 10 * time.Second
	old := backendtest.MustHold(s.T, s.dead("exclusive"))
	low := time.Duration(respite)
	if taker != "here" {
		low += leaseAndDrift
	}
	p := s.at(taker, s.fault.On)
	r := p.Request("exclusive")
	r.Grace = respite
	start := time.Now()
	acquired(s.T, p.ask(s.T, r))
	s.took(start, low, low+pace.Slack)
	backendtest.MustBeLost(s.T, old)
}

// proof: dead holders of our own host are broken at once, and no others.
func (s *scene) proof() {
	living := s.stranger().take(s.T, "shared")
	deceased := backendtest.MustHold(s.T, s.dead("shared"))
	start := time.Now()
	a := s.victim().want(s.T, "exclusive")
	s.mustBeHeldBy(a, living)
	backendtest.MustBeLost(s.T, deceased)
	backendtest.MustRelease(s.T, living)
	backendtest.MustHold(s.T, a)
	s.took(start, 0, 0)
}

// away: a waiter goes on waiting while the place does not answer, and says that it does not.
func (s *scene) away(silence error, pace Pace) {
	h := s.stranger().take(s.T, "exclusive")
	go func() {
		for range 12 { // three leases
			_ = h.Heartbeat(s.Context())
			time.Sleep(lease / 4)
		}
		_ = h.Release(s.Context())
	}()
	var gone atomic.Bool
	a := s.at("here", func(c Call) error {
		if gone.Load() {
			return silence
		}
		return c.Do()
	}).want(s.T, "exclusive")
	backendtest.MustBeHeld(s.T, a)
	start := time.Now()
	time.AfterFunc(time.Second, func() { gone.Store(true) }) // while it waits
	time.AfterFunc(2*lease, func() { gone.Store(false) })
	var err error
	for i := 0; i < 100 && (i == 0 || backend.CodeOf(err) == protocol.Held); i++ {
		backendtest.MustWork(s.T, a.Wait(s.Context()))
		_, err = a.Try(s.Context())
	}
	if !held(err) || backend.CodeOf(err) != protocol.Unreachable {
		s.Errorf("while the place is away a waiter is told %v, want that it goes on waiting, and why", err)
	}
	next := acquired(s.T, a)
	s.took(start, 3*lease, 3*lease+pace.Slack)
	backendtest.MustRelease(s.T, next)
}
