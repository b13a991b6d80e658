package locksmith

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// alarmedWorld is a world whose place tells of what becomes of the lock.
type alarmedWorld struct {
	*world
	alarms int
	broken func(n int) bool // the n-th alarm rings at once, for nothing
	gone   time.Duration    // when the lock is gone
}

func (w *alarmedWorld) Attempt(backend.Request) (backend.Attempt, error) { return w, nil }

func (w *alarmedWorld) Try(ctx context.Context) (backend.Hold, error) {
	_, err := w.world.Try(ctx)
	return w, err
}

func (w *alarmedWorld) Heartbeat(ctx context.Context) error {
	if w.clock.Now() >= w.gone {
		return backend.ErrGone
	}
	return w.world.Heartbeat(ctx)
}

func (w *alarmedWorld) Alarm(ctx context.Context, wake func()) {
	w.alarms++
	if !w.broken(w.alarms) {
		timer := w.clock.NewTimer(w.gone - w.clock.Now())
		select {
		case <-timer.C():
		case <-ctx.Done():
		}
	}
	wake()
}

// TestAlarms: a loss is told at once, also after alarms for nothing, of which there are never more than
// heartbeats.
func TestAlarms(t *testing.T) {
	for what, c := range map[string]struct {
		broken func(int) bool
		told   time.Duration // after the loss, at most
	}{
		"none":      {func(int) bool { return false }, 0},
		"the first": {func(n int) bool { return n == 1 }, 0},
		"all":       {func(int) bool { return true }, lease / 4},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &alarmedWorld{world: &world{clock: &jumpingClock{start: clock.Runtime{}.Now()}}, broken: c.broken, gone: 5*lease + time.Second}
				g := &fakeClient{ctx: t.Context(), clock: w.clock}
				h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
					Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: w.clock}}
				if _, err := h.Run(); CodeOf(err) != protocol.Gone || g.lostAt < w.gone || g.lostAt > w.gone+c.told {
					t.Errorf("Run returns %v, and told of the loss at %v; want code %s, and %v after %v at most", err, g.lostAt, protocol.Gone, c.told, w.gone)
				}
				if w.beats > 45 || w.alarms > 23 {
					t.Errorf("in five leases there were %d heartbeats and %d alarms, want two heartbeats in each quarter at most, and an alarm", w.beats, w.alarms)
				}
				synctest.Wait()
			})
		})
	}
}
