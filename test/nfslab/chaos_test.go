//go:build linux

package nfslab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// kills is how many there are to be.
const kills = 1000

const (
	chaosLease = time.Second
	// chaosStall is when a lock is stuck that somebody wants. Some who came before may have
	// died one after the other, each of whom counts for a lease and more; a waiter who is
	// not woken sleeps for longer (30 s).
	chaosStall = 12 * time.Second
	chaosLocks = 5 // one is idle while a dead holder's lease runs
	chaosEach  = 4 // contenders for each
)

// chaos: contenders on all hosts are killed at random moments, they or their
// helpers or both. Nobody meets anybody, no lock is stuck, nothing is left.
func chaos(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dir := filepath.Dir(place(t))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	pauses := &standstill{}
	go pauses.watch(ctx)
	go noOrphans(ctx, t)
	all := make([]history, chaosLocks)
	for l := range all {
		all[l].quota, all[l].enough = kills/chaosLocks, make(chan struct{})
	}
	var wg sync.WaitGroup
	for l := range all {
		lock := lockName(dir, l)
		go all[l].watch(ctx, t, lock, chaosStall, pauses)
		for i := range chaosEach {
			c := contender{name: fmt.Sprintf("lock %d, contender %d", l, i), rounds: 1000, mode: "exclusive",
				lock: lock, lease: chaosLease, work: 10 * time.Millisecond, nap: 3 * time.Second}
			random := rand.New(rand.NewPCG(seed, uint64(l*chaosEach+i)))
			wg.Go(func() { all[l].restartKilled(ctx, t, (l+i)%hosts+1, c, random) })
		}
	}
	wg.Wait()
	cancel()
	for l := range all {
		all[l].judge(t, l, pauses)
	}
	swept(t, dir, chaosLocks)
}

// restartKilled starts a contender on host k again and again, until enough were
// killed.
func (h *history) restartKilled(ctx context.Context, t *testing.T, k int, c contender, random *rand.Rand) {
	for ctx.Err() == nil && h.killed() < h.quota {
		c.killer = random.Uint64()
		if err := h.race(ctx, k, c); err != nil && ctx.Err() == nil {
			t.Error(err)
			return
		}
	}
}

// judge looks at what became of one lock.
func (h *history) judge(t *testing.T, l int, pauses *standstill) {
	t.Helper()
	h.check(t, true)
	stall, who := h.longestStall(pauses)
	t.Logf("lock %d: %d kills, %d lost, %s, longest stall %v", l, len(h.kills), len(h.losses), h.rate(), stall.Round(time.Millisecond))
	if len(h.kills) < h.quota || len(h.held) < len(h.kills)/4 {
		t.Errorf("lock %d: only %d kills and %d acquisitions", l, len(h.kills), len(h.held))
	}
	if stall > chaosStall {
		t.Errorf("lock %d: stuck for %v, while %v wanted it; meanwhile:\n%s", l, stall, who, h.killsIn(who.Start, who.End))
	}
}

func lockName(dir string, l int) string { return fmt.Sprintf("%s/L%d", dir, l) }

func (h *history) killed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.kills)
}

// killsIn lists the kills between two moments.
func (h *history) killsIn(from, to time.Duration) string {
	var b strings.Builder
	for _, k := range h.kills {
		if k.at >= from && k.at <= to {
			fmt.Fprintf(&b, "  %.3f %s, kind %d\n", k.at.Seconds(), k.who, k.whom)
		}
	}
	return b.String()
}

// swept: one more holder of each lock, for ten heartbeats, leaves nothing of the dead,
// whose leases are shorter.
func swept(t *testing.T, dir string, locks int) {
	t.Helper()
	var last []*holder
	for l := range locks {
		h := hold(t, 1, lockName(dir, l), "--lease", "8s", "--refresh", "1s")
		h.held()
		last = append(last, h)
	}
	time.Sleep(10 * time.Second)
	for l, h := range last {
		h.release()
		atRest(t, lockName(dir, l))
	}
}
