package backendtest

import (
	"context"
	"errors"
	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// share takes the lock n times, together.
func share(t *testing.T, f Fixture, n int) []backend.Hold {
	t.Helper()
	var hs []backend.Hold
	for range n {
		hs = append(hs, take(t, f, SharedRequest()))
	}
	return hs
}

func severalShare(t *testing.T, f Fixture) {
	hs := share(t, f, 3)
	seen := map[string]bool{}
	for _, h := range report(t, f).Holders {
		if h.Record == nil || h.Record.Mode != "shared" || h.Verdict != owner.Alive {
			t.Errorf("holder: %+v", h)
			continue
		}
		seen[h.Record.ID] = true
	}
	for _, h := range hs {
		if !seen[h.ID()] {
			t.Errorf("%s is not among the holders: %v", h.ID(), seen)
		}
		MustStillHold(t, h)
		MustRelease(t, h)
	}
	if r := report(t, f); len(r.Holders) > 0 || len(seen) != len(hs) {
		t.Errorf("seen %v, then %+v", seen, r)
	}
	nothingLeft(t, f)
}

// sharedExcludesExclusive until the last of them has gone.
func sharedExcludesExclusive(t *testing.T, f Fixture) {
	hs := share(t, f, 2)
	a := attempt(t, f, Request())
	held := MustBeHeld(t, a)
	if r := held.Holder.Record; r == nil || r.ID != hs[0].ID() && r.ID != hs[1].ID() {
		t.Errorf("holder: %+v", held.Holder)
	}
	MustRelease(t, hs[0])
	MustBeHeld(t, a)
	done := waits(t, t.Context(), a)
	MustRelease(t, hs[1])
	if err := mustEnd(t, done); err != nil {
		t.Fatal(err)
	}
	MustRelease(t, MustAcquire(t, a))
	nothingLeft(t, f)
}

// exclusiveExcludesShared until it goes; then they have it together.
func exclusiveExcludesShared(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	got := make(chan backend.Hold, 2)
	for range cap(got) {
		a := attempt(t, f, SharedRequest())
		if held := MustBeHeld(t, a); held.Holder.Record == nil || held.Holder.Record.ID != h.ID() {
			t.Errorf("holder: %+v", held.Holder)
		}
		go func() {
			h, err := backend.Acquire(t.Context(), a)
			if err != nil {
				t.Error(err)
			}
			got <- h
		}()
	}
	MustStillHold(t, h)
	select {
	case <-got:
		t.Fatal("it was shared while somebody had it alone")
	default:
	}
	MustRelease(t, h)
	var hs []backend.Hold
	for range cap(got) {
		select {
		case h := <-got:
			hs = append(hs, h)
		case <-time.After(patience):
			t.Fatalf("%d of %d got it", len(hs), cap(got))
		}
	}
	for _, h := range hs {
		MustStillHold(t, h)
		MustRelease(t, h)
	}
	nothingLeft(t, f)
}

// deadSharerBroken: an exclusive waiter breaks the dead one and waits for the
// living one.
func deadSharerBroken(t *testing.T, f Fixture) {
	r := SharedRequest()
	r.Owner.Helper = DeadProcess(t)
	before := take(t, f, SharedRequest())
	dead := take(t, f, r)
	f.Abandon(dead)
	after := take(t, f, SharedRequest())
	a := attempt(t, f, Request())
	for range 3 {
		MustBeHeld(t, a)
	}
	MustBeLost(t, dead)
	for _, h := range []backend.Hold{before, after} {
		MustStillHold(t, h)
		MustBeHeld(t, a)
		MustRelease(t, h)
	}
	MustRelease(t, MustAcquire(t, a))
	nothingLeft(t, f)
}

func breakSharerByID(t *testing.T, f Fixture) {
	b := f.Open()
	hs := share(t, f, 3)
	if err := b.Break(t.Context(), hs[1].ID()); err != nil {
		t.Fatal(err)
	}
	MustBeLost(t, hs[1])
	if n := len(report(t, f).Holders); n != 2 {
		t.Errorf("%d holders", n)
	}
	for _, h := range []backend.Hold{hs[0], hs[2]} {
		MustStillHold(t, h)
		MustRelease(t, h)
	}
	nothingLeft(t, f)
}

// mustBeNewest is for backends that tell.
func mustBeNewest(t *testing.T, f Fixture, token uint64) {
	t.Helper()
	n, err := f.Open().NewestToken(t.Context())
	if errors.Is(err, backend.ErrNoTokens) && token == 0 {
		return
	}
	if n != token || err != nil {
		t.Errorf("newest token %d, %v, want %d", n, err, token)
	}
}

// tokens rise with each exclusive holder. Those who share have one.
func tokens(t *testing.T, f Fixture) {
	var last uint64
	for range 3 {
		h := take(t, f, Request())
		if h.Token() <= last {
			t.Errorf("token %d after %d", h.Token(), last)
		}
		last = h.Token()
		mustBeNewest(t, f, last)
		MustRelease(t, h)
		mustBeNewest(t, f, last)
		hs := share(t, f, 3)
		for _, h := range hs {
			if h.Token() != hs[0].Token() || h.Token() < last || report(t, f).Token != h.Token() {
				t.Errorf("token %d beside %d after %d, reported %d", h.Token(), hs[0].Token(), last, report(t, f).Token)
			}
		}
		last = hs[0].Token()
		mustBeNewest(t, f, last)
		for _, h := range hs {
			MustRelease(t, h)
		}
	}
}

// A crowd is who is inside at the moment.
type crowd struct {
	exclusive, shared, together atomic.Int32
}

func (c *crowd) enter(t *testing.T, mode string) (leave func()) {
	mine, limit := &c.shared, int32(1000)
	if mode == "exclusive" {
		mine, limit = &c.exclusive, 1
	}
	n := mine.Add(1)
	e, s := c.exclusive.Load(), c.shared.Load()
	if n > limit || e > 0 && s > 0 {
		t.Errorf("%d exclusive and %d shared holders at once", e, s)
	}
	if s > 1 {
		c.together.Add(1)
	}
	return func() { mine.Add(-1) }
}

func mixedStress(t *testing.T, f Fixture) {
	const contenders, rounds = 8, 20
	var inside crowd
	var total atomic.Int32
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	for i := range contenders {
		wg.Go(func() {
			for round := range rounds {
				r := SharedRequest()
				if (i+round)%3 == 0 {
					r = Request()
				}
				a, err := f.Open().Attempt(r)
				if err != nil {
					t.Error(err)
					return
				}
				h, err := backend.Acquire(ctx, a)
				if err != nil {
					t.Error(err)
					return
				}
				leave := inside.enter(t, r.Owner.Mode)
				time.Sleep(500 * time.Microsecond)
				total.Add(1)
				leave()
				if err := h.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := total.Load(); got != contenders*rounds {
		t.Errorf("%d rounds, want %d", got, contenders*rounds)
	}
	if inside.together.Load() == 0 {
		t.Error("nobody ever shared the lock")
	}
	nothingLeft(t, f)
}

// writerPreference: who would join those that share the lock leaves it to one who
// waits to have it alone, for a lease of its own at most.
func writerPreference(t *testing.T, f Fixture) {
	h := take(t, f, SharedRequest())
	writer := attempt(t, f, Request())
	ctx, cancel := context.WithCancel(t.Context())
	done := waits(t, ctx, writer)
	r := SharedRequest()
	r.Owner.Lease = owner.MinLease
	a := attempt(t, f, r)
	start := clock.Boot{}.Now()
	MustBeHeld(t, a)
	joined := MustAcquire(t, a)
	if d := (clock.Boot{}).Now() - start; d < r.Owner.Lease*9/10 {
		t.Errorf("it held back for %v, its lease is %v", d, r.Owner.Lease)
	}
	for _, h := range []backend.Hold{h, joined} {
		MustStillHold(t, h)
		MustRelease(t, h)
	}
	if err := mustEnd(t, done); err != nil {
		t.Error(err)
	}
	cancel()
	MustRelease(t, MustAcquire(t, writer))
	nothingLeft(t, f)
}
