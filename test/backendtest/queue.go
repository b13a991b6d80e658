package backendtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/test/lab"
)

// A waiter waits for the lock in the background, and says when it has its turn.
type waiter struct {
	attempt backend.Attempt
	done    chan error
}

// line lets waiters of these modes come one after the other. Each is in the queue before the next
// comes.
func line(t *testing.T, ctx context.Context, f Fixture, modes []string, turn func(i int, h backend.Hold) error) []waiter {
	t.Helper()
	var ws []waiter
	for i, mode := range modes {
		r := Request()
		r.Owner.Mode = mode
		w := waiter{attempt(t, f, r), make(chan error, 1)}
		ws = append(ws, w)
		go func() {
			h, err := backend.Acquire(ctx, w.attempt)
			if err == nil {
				err = turn(i, h)
			}
			w.done <- err
		}()
		lab.Eventually(t, fmt.Sprint(i+1, " in the queue"),
			func() bool { return queued(report(t, f).Waiters, i+1) },
			func() string { return fmt.Sprintf("there are %+v", report(t, f).Waiters) })
		time.Sleep(2 * time.Millisecond) // the queue's order may be no finer than a millisecond
	}
	return ws
}

// queued reports whether n wait and have records. A waiter has its place in the queue before its
// record.
func queued(all []backend.Holder, n int) bool {
	unknown := func(w backend.Holder) bool { return w.Record == nil }
	return len(all) == n && !slices.ContainsFunc(all, unknown)
}

func queueSeen(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	ctx, cancel := context.WithCancel(t.Context())
	modes := []string{"exclusive", "shared", "exclusive", "shared"}
	ws := line(t, ctx, f, modes, func(int, backend.Hold) error { return errors.New("it got the lock") })
	r := report(t, f)
	if len(r.Holders) != 1 || r.Holders[0].Record == nil || r.Holders[0].Record.ID != h.ID() {
		t.Errorf("holders: %+v", r.Holders)
	}
	for i, w := range r.Waiters {
		if w.Record == nil || w.Record.Mode != modes[i] || w.Verdict != owner.Alive || w.PID != os.Getpid() {
			t.Errorf("number %d in the queue: %+v, want %s", i+1, w, modes[i])
		}
	}
	cancel()
	for _, w := range ws {
		if err := mustEnd(t, w.done); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		MustWithdraw(t, w.attempt)
	}
	if r := report(t, f); len(r.Waiters) > 0 {
		t.Errorf("they withdrew, but there are %+v", r.Waiters)
	}
	MustRelease(t, h)
	nothingLeft(t, f)
}

// takeTurns: waiters take turns in their order. The queue is fair only for a limited time, so a
// machine that is too busy may break the order now and then, but not every time.
func takeTurns(t *testing.T, f Fixture) {
	const tries = 4
	var got []int
	for range tries {
		if got = turns(t, f); slices.IsSorted(got) {
			nothingLeft(t, f)
			return
		}
	}
	t.Errorf("the order was %v, and no better in %d tries before", got, tries-1)
}

// turns returns the order in which three waiters got the lock.
func turns(t *testing.T, f Fixture) []int {
	t.Helper()
	var mu sync.Mutex
	var order []int
	h := take(t, f, Request())
	ws := line(t, t.Context(), f, []string{"exclusive", "exclusive", "exclusive"}, func(i int, h backend.Hold) error {
		mu.Lock()
		order = append(order, i)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		return h.Release(t.Context())
	})
	MustRelease(t, h)
	for _, w := range ws {
		if err := mustEnd(t, w.done); err != nil {
			t.Error(err)
		}
	}
	return order
}
