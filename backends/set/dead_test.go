package set

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/member"
	"locksmith/test/backendtest/membertest"
)

// A polled fake is a lock whose waiters are not woken. If its holder is dead, a waiter finds out
// by watching it for a whole lease without a break.
type polled struct {
	*membertest.Fake
	dead string // the id of the dead hold
}

func (p polled) Attempt(r backend.Request) (backend.Attempt, error) {
	attempt, err := p.Fake.Attempt(r)
	return &polling{Attempt: attempt, lock: p.Fake, dead: p.dead}, err
}

type polling struct {
	backend.Attempt
	lock  *membertest.Fake
	dead  string
	since time.Time // when it was refused first
}

func (p *polling) Try(ctx context.Context) (backend.Hold, error) {
	if p.since.IsZero() {
		p.since = time.Now()
	}
	if time.Since(p.since) > membertest.Lease && p.lock.Holder() == p.dead {
		p.lock.Remove()
	}
	return p.Attempt.Try(ctx)
}

func (p *polling) Wait(ctx context.Context) error {
	clock.Sleep(ctx, clock.Runtime{}, rand.N(2*time.Second))
	return ctx.Err()
}

// Two sets wait for a dead holder and are in each other's way meanwhile. They do not keep each
// other from watching that holder for its whole lease.
func TestDeadHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b", "c")
		dead := f[1].Alone(t).ID()
		var locks []member.Lock
		for _, one := range f {
			l := one.Lock()
			l.Locker = polled{one, dead}
			locks = append(locks, l)
		}
		ctx, cancel := clock.WithTimeout(t.Context(), clock.Runtime{}, 10*membertest.Lease)
		defer cancel()
		var all sync.WaitGroup
		for range 8 {
			a := wish(t, locks...)
			all.Go(func() { mustHaveIt(ctx, t, a) })
		}
		all.Wait()
		membertest.MustBeFree(t, f...)
	})
}

// mustHaveIt waits for a set, and releases it.
func mustHaveIt(ctx context.Context, t *testing.T, a backend.Attempt) {
	t.Helper()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Errorf("not held in ten leases: %v", err)
		_ = a.Withdraw(t.Context())
		return
	}
	time.Sleep(time.Millisecond)
	if err := h.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
