//go:build linux

package nfslab

import (
	"math/rand/v2"
	"testing"
	"time"
)

// restart: the server goes away and comes back, at random moments of acquiring
// and releasing. Nothing is lost, as the leases are longer than that.
func restart(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var h history
	c := contender{lock: place(t), mode: "exclusive", rounds: 10, lease: 90 * time.Second, work: 5 * time.Millisecond}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.raceAll(t, 4*time.Minute, repeat(c, 6))
	}()
	restarts := 0
	for !over(done, time.Duration(random.Int64N(int64(time.Second)))) && restarts < 6 {
		do(t, "nfsd", []string{"stop", "crash"}[random.IntN(2)])
		time.Sleep(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
		do(t, "nfsd", "start")
		restarts++
	}
	<-done
	if restarts < 3 {
		t.Errorf("only %d restarts", restarts)
	}
	h.check(t, true)
	t.Logf("%s, %d restarts, called lost: %q", h.rate(), restarts, h.losses)
	settle(t, c.lock)
}

// over waits for the end, but not for long.
func over(done <-chan struct{}, within time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(within):
		return false
	}
}

// settle has one more holder clear what dead ones left, for which it needs to
// watch them for a lease, and makes sure that it does.
func settle(t *testing.T, lock string) {
	t.Helper()
	last := hold(t, 1, lock, "--lease", "8s")
	last.held()
	last.release()
	atRest(t, lock)
}
