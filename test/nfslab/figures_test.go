//go:build linux

package nfslab

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A figure is a line of output that the benchmark can find: figure: NAME key=value…
func figure(t *testing.T, name, format string, args ...any) {
	t.Helper()
	t.Logf("figure: %s %s %s", name, here(), fmt.Sprintf(format, args...))
}

// requests counts what one uncontended lock costs the server.
func requests(t *testing.T) {
	const warm, times, limit = 3, 20, 14
	lock := place(t)
	for range warm {
		once(t, lock)
	}
	before := calls(t, 1)
	for range times {
		once(t, lock)
	}
	used := calls(t, 1).since(before)
	each := float64(used.sum()) / times
	figure(t, "requests", "each=%.2f limit=%d: %s", each, limit, used.perTime(times))
	if each > limit {
		t.Errorf("%.2f requests to acquire and release, want at most %d", each, limit)
	}
}

// once acquires and releases on host 1.
func once(t *testing.T, lock string) {
	t.Helper()
	h := hold(t, 1, lock)
	h.held()
	h.release()
}

// waiters counts what twenty that wait cost the server.
func waiters(t *testing.T) {
	const count, limit, span = 20, 25, 10 * time.Second
	lock := place(t)
	hold(t, 3, lock).held()
	var all []*holder
	for i := range count {
		all = append(all, hold(t, i%2+1, lock))
	}
	queued(t, lock, count+1)
	time.Sleep(span)
	one, two, at := calls(t, 1), calls(t, 2), now()
	time.Sleep(span)
	used := calls(t, 1).since(one)
	used.add(calls(t, 2).since(two))
	took := (now() - at).Seconds()
	for _, h := range all {
		h.silent()
	}
	rate := float64(used.sum()) / took
	figure(t, "waiters", "count=%d requests_a_second=%.1f limit=%d: %s", count, rate, limit, used.perTime(took))
	if rate > limit {
		t.Errorf("%.1f requests a second by %d waiters, want at most %d", rate, count, limit)
	}
}

// handoff measures how soon a waiter on another host has a lock that is released: not
// much later than if it had come just then, for it is the first in the queue.
func handoff(t *testing.T) {
	const times = 15
	lock := place(t)
	var took, alone []time.Duration
	for range times {
		first := hold(t, 1, lock)
		alone = append(alone, first.held().at-first.began)
		next := hold(t, 2, lock)
		queued(t, lock, 2)
		time.Sleep(300 * time.Millisecond)
		next.silent()
		at := now()
		first.letGo()
		took = append(took, next.held().at-at)
		next.release()
	}
	slices.Sort(took)
	slices.Sort(alone)
	if most := time.Second + 5*alone[times/2]; took[times/2] > most {
		t.Errorf("%v from one to the next, want at most %v: who comes when the lock is free has it in %v", took[times/2], most, alone[times/2])
	}
	figure(t, "handoff", "median_ms=%d min_ms=%d max_ms=%d alone_ms=%d", took[times/2].Milliseconds(), took[0].Milliseconds(),
		took[times-1].Milliseconds(), alone[times/2].Milliseconds())
}
