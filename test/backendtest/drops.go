package backendtest

import (
	"errors"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// kernelFrees: the lock of a holder that is gone is free, in spite of a living parent, of its
// record, and of a request that breaks nobody by lease. The kernel has freed it,
// so nobody is told of a break.
func kernelFrees(t *testing.T, f Fixture) {
	f.Abandon(take(t, f, orphaned(t)))
	r := Request()
	r.Strict, r.Grace = true, time.Hour
	r.Broke = func(_ string, dead backend.Holder) { t.Errorf("told that %+v was broken", dead) }
	if left := report(t, f); len(left.Holders) > 0 {
		t.Errorf("it is held by %+v", left.Holders)
	}
	MustRelease(t, take(t, f, r))
	nothingLeft(t, f)
}

func waitEndsWithDrop(t *testing.T, f Fixture) {
	h := take(t, f, orphaned(t))
	a := attempt(t, f, Request())
	done := waits(t, t.Context(), a)
	f.Abandon(h)
	if err := mustEnd(t, done); err != nil {
		t.Fatal(err)
	}
	MustRelease(t, MustAcquire(t, a))
}

// nobodyBreaks: a break leaves the lock with its holder. When the holder is gone, there is nobody
// to break.
func nobodyBreaks(t *testing.T, f Fixture) {
	b := f.Open()
	h := take(t, f, Request())
	if err := BreakID(t.Context(), b, owner.NewID()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("break of an unknown id: %v", err)
	}
	if err := BreakID(t.Context(), b, h.ID()); !errors.Is(err, backend.ErrLives) {
		t.Errorf("break of one that lives: %v", err)
	}
	MustStillHold(t, h)
	MustBeHeld(t, attempt(t, f, Request()))
	f.Abandon(h)
	if err := BreakID(t.Context(), b, h.ID()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("break of one that is gone: %v", err)
	}
}
