package cli

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/show"
)

// slowBackend answers each look after a delay, the field takes, whatever the look's context says.
type slowBackend struct {
	backend.Backend              // the test needs no other methods
	takes           atomic.Int64 // nanoseconds
	busy            atomic.Bool
	looks           atomic.Int64
	t               *testing.T
}

func (b *slowBackend) Read(context.Context) (backend.Report, error) {
	if b.busy.Swap(true) {
		b.t.Error("two looks at a time")
	}
	b.looks.Add(1)
	time.Sleep(time.Duration(b.takes.Load()))
	b.busy.Store(false)
	return backend.Report{Token: 7}, nil
}

// recorder is a show.Watch that keeps what it is shown.
type recorder struct {
	states []string
	at     []time.Duration
	start  time.Time
	full   func() // called after each look
}

func (r *recorder) Show(seen []show.Lock, at time.Time) error {
	r.states, r.at = append(r.states, seen[0].State), append(r.at, at.Sub(r.start))
	r.full()
	return nil
}

func (r *recorder) Close() {}

// TestWatchHanging: if a look hangs, status --watch says so, starts no second look beside it, and
// goes on when the first comes back.
func TestWatchHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBackend{t: t}
		b.takes.Store(int64(55 * time.Second))
		v := &view{address: "fake:/x", lock: "fake:/x", backend: b}
		ctx, cancel := context.WithCancel(t.Context())
		r := &recorder{start: time.Now()}
		r.full = func() {
			b.takes.Store(int64(time.Second))
			if len(r.states) > 1 && r.states[len(r.states)-2] == "free" {
				cancel()
			}
		}
		err := watchLoop(ctx, r, 10*time.Second, func() []show.Lock { return lookAtAll(ctx, []*view{v}) })
		if err != nil || !slices.Equal(r.states, []string{"unknown", "unknown", "unknown", "free", "free"}) {
			t.Errorf("the watch ends with %v; the states shown are %q", err, r.states)
		}
		if s := time.Second; !slices.Equal(r.at, []time.Duration{30 * s, 40 * s, 50 * s, 61 * s, 72 * s}) {
			t.Errorf("states were shown at %v", r.at)
		}
	})
}

// TestWatchEnds: the watch ends at once, even in the middle of a look.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBackend{t: t}
		b.takes.Store(int64(time.Hour))
		v := &view{address: "fake:/x", lock: "fake:/x", backend: b}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := &recorder{start: time.Now(), full: func() { t.Error("the watch shows a look that did not end") }}
		err := watchLoop(ctx, r, time.Second, func() []show.Lock { return lookAtAll(ctx, []*view{v}) })
		if err != nil || time.Since(r.start) != time.Second {
			t.Errorf("the watch ends with %v after %v, want at once", err, time.Since(r.start))
		}
		time.Sleep(2 * time.Hour) // the look comes back
	})
}
