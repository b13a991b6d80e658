package backendtest

import (
	"errors"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// successes: the last success is on record until the next one, whoever holds the lock. A success
// counts only if its lock was held to the end.
func successes(t *testing.T, f Fixture) {
	l := f.Open()
	keeper, keeps := l.(shelf.Keeper)
	if !keeps {
		return
	}
	h := take(t, f, Request())
	if last, err := shelf.Last(t.Context(), keeper, h); err != nil || last != nil {
		t.Errorf("of a new lock: %v, %v", last, err)
	}
	f.Remove()
	if err := shelf.Record(t.Context(), keeper, h); !errors.Is(err, backend.ErrGone) {
		t.Errorf("a loser records its success: %v", err)
	}
	_ = h.Release(t.Context())
	if r := report(t, f); r.Success != nil {
		t.Errorf("the success of a loser is on record: %v", r.Success)
	}
	for range 3 {
		h = take(t, f, Request())
		MustWork(t, shelf.Record(t.Context(), keeper, h))
		MustRelease(t, h)
		h = take(t, f, Request())
		last, err := shelf.Last(t.Context(), f.Open().(shelf.Keeper), h)
		if err != nil || last == nil || last.Ago < 0 || last.Ago > time.Hour || last.Host != owner.Here().Host {
			t.Errorf("the last: %v, %v", last, err)
		}
		MustRelease(t, h)
		if r := report(t, f); r.Success == nil || r.Success.Host != owner.Here().Host || len(r.Holders)+len(r.Waiters) > 0 {
			t.Errorf("seen: %+v", r)
		}
	}
	if left := f.Leftovers(); len(left) > 2 { // the success, and perhaps the directory that it is in
		t.Errorf("more than the last is left: %q", left)
	}
	mustBeRemovable(t, f, l)
}

// mustBeRemovable makes sure that Remove leaves nothing, whatever is kept beside the lock.
func mustBeRemovable(t *testing.T, f Fixture, l backend.Backend) {
	t.Helper()
	r, ok := l.(backend.Remover)
	if !ok {
		return
	}
	MustWork(t, r.Remove(t.Context(), take(t, f, Request())))
	if r := report(t, f); r.Stays {
		t.Errorf("something is still there: %+v", r)
	}
}
