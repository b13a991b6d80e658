package backendtest

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
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

// sharedExcludesExclusive: holders that share exclude an exclusive one until the last of them has
// gone.
func sharedExcludesExclusive(t *testing.T, f Fixture) {
	hs := share(t, f, 2)
	a := attempt(t, f, Request())
	MustBeHeld(t, a)
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

// sharedTellsWho: a waiter that wants the lock alone is told of a holder that shares it.
func sharedTellsWho(t *testing.T, f Fixture) {
	hs := share(t, f, 2)
	held := MustBeHeld(t, attempt(t, f, Request()))
	if r := held.Holder.Record; r == nil || r.ID != hs[0].ID() && r.ID != hs[1].ID() {
		t.Errorf("holder: %+v", held.Holder)
	}
	for _, h := range hs {
		MustRelease(t, h)
	}
}

// exclusiveExcludesShared: an exclusive holder excludes those that would share until it goes.
// Then they have the lock together.
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

// deadSharerBroken: of two holders that share, an exclusive waiter breaks the dead one, and waits
// for the living one.
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
	if err := BreakID(t.Context(), b, hs[1].ID()); err != nil {
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

// mustBeNewest is for backends that tell the newest token.
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

// tokens: tokens rise with each exclusive holder. Holders that share have one in common.
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

func mixedStress(t *testing.T, f Fixture) {
	inside := contend(t, f, 20, cmp.Or(f.Stay, 500*time.Microsecond), func(i int) backend.Request {
		if i%3 == 0 {
			return Request()
		}
		return SharedRequest()
	})
	if inside.together.Load() == 0 {
		t.Error("nobody ever shared the lock")
	}
}

// writerPreference: a newcomer that would share the lock leaves it to a waiter that wants it
// alone, for its own lease at most.
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

// strictOrder: who would share a lock that others share waits for who came before and wants it alone.
func strictOrder(t *testing.T, f Fixture) {
	h := take(t, f, SharedRequest())
	writer, r := attempt(t, f, Request()), SharedRequest()
	done := waits(t, t.Context(), writer)
	r.Owner.Lease = owner.MinLease
	reader := attempt(t, f, r)
	start := clock.Boot{}.Now()
	for (clock.Boot{}).Now()-start < 2*r.Owner.Lease {
		if held := MustBeHeld(t, reader); !held.Yielding {
			t.Errorf("it waits for %+v, and does not say that it holds back", held)
		}
		time.Sleep(r.Owner.Lease / 8)
	}
	MustStillHold(t, h)
	MustRelease(t, h)
	MustWork(t, mustEnd(t, done))
	alone := MustHold(t, writer)
	MustBeHeld(t, reader)
	MustRelease(t, alone)
	MustRelease(t, MustAcquire(t, reader))
	nothingLeft(t, f)
}
