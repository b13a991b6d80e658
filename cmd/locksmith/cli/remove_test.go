package cli

import (
	"context"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// unused is a free lock that is to be removed. It has all that removeHeld asks of a lock.
type unused struct {
	scene
	backend.Hold
	released, removed bool
}

func (u *unused) Attempt(backend.Request) (backend.Attempt, error) { return tries{hold: u}, nil }
func (u *unused) Tend(context.Context) error                       { return nil }

func (u *unused) Release(context.Context) error {
	u.released = true
	return nil
}

func (u *unused) Remove(context.Context, backend.Hold) error {
	u.removed = true
	return nil
}

type tries struct {
	backend.Attempt
	hold *unused
}

func (t tries) Try(context.Context) (backend.Hold, error) { return t.hold, nil }

// TestRemoveWaitedFor: a lock that somebody waits for is in use. If a waiter comes after remove's
// first look, remove sees it once it holds the lock itself.
func TestRemoveWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		waiters []backend.Holder
		removed bool
	}{
		"nobody":        {nil, true},
		"a waiter":      {[]backend.Holder{{ID: "a", Verdict: owner.Alive}}, false},
		"one elsewhere": {[]backend.Holder{{ID: "a", Verdict: owner.Unknown}}, false},
		"several":       {[]backend.Holder{{ID: "a", Verdict: owner.Unknown}, {ID: "b", Verdict: owner.Alive}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unused{scene: scene{looks: []func(*backend.Report){func(r *backend.Report) { r.Waiters = c.waiters }}}}
			err := removeHeld(t.Context(), "nfs:/x", u, u)
			if c.removed {
				backendtest.MustWork(t, err)
			} else {
				backendtest.MustFail(t, err, protocol.Held, "locksmith break")
			}
			if u.removed != c.removed || u.released == c.removed {
				t.Errorf("a lock with a late waiter: removed %v, released %v", u.removed, u.released)
			}
		})
	}
}
