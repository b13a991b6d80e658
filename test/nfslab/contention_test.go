//go:build linux

package nfslab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/test/guest"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

// exclusive: twelve contenders on three hosts never meet.
func exclusive(t *testing.T) {
	r := race{lock: place(t), tokens: true, contenders: 12, rounds: 4, lease: time.Minute, work: 5 * time.Millisecond}
	r.run(t)
	r.all(t)
	atRest(t, r.lock)
}

// all makes sure that every contender had the lock in every round.
func (r *race) all(t *testing.T) {
	t.Helper()
	if want := r.contenders * r.rounds; len(r.held) != want || len(r.losses) > 0 {
		t.Errorf("%d acquisitions, want %d; lost, though nothing happened: %q", len(r.held), want, r.losses)
	}
}

// shared: two of three contenders share the lock and may hold it together; nobody holds it
// together with the third.
func shared(t *testing.T) {
	// The groups move on by one host a time, so that each has both kinds.
	sharing := func(i int) bool { return i%3 != i/3%3 }
	r := race{lock: place(t), tokens: true, shares: sharing, contenders: 12, rounds: 3, lease: time.Minute, work: 60 * time.Millisecond}
	r.run(t)
	t.Logf("%d pairs together", holds.Together(r.held))

	// Two on different hosts that wait for nothing but each other.
	a, b := hold(t, 1, r.lock, "--shared"), hold(t, 2, r.lock, "--shared")
	a.Held()
	b.Held()
	if s := look(t, 3, r.lock); len(s.Holders) != 2 {
		t.Errorf("status with two shared holders: %+v", s)
	}
	refused(t, 3, r.lock)
	a.Release()
	refused(t, 3, r.lock)
	b.Release()
	hold(t, 3, r.lock).Held()
}

// restart: the server goes away and comes back, at random moments of acquiring and releasing. No
// lock is lost, because the leases are longer than the server is away.
func restart(t *testing.T) {
	const restarts = 4
	over := make(chan struct{})
	r := race{lock: place(t), tokens: true, contenders: 6, rounds: 1000, lease: time.Hour, work: 5 * time.Millisecond, over: over,
		away: time.Minute}
	go func() {
		defer close(over)
		for range restarts {
			time.Sleep(rand.N(time.Second))
			do(t, "nfsd", []string{"stop", "crash"}[rand.IntN(2)])
			time.Sleep(rand.N(200 * time.Millisecond))
			do(t, "nfsd", "start")
		}
	}()
	r.run(t)
	for _, loss := range r.losses {
		if !strings.HasSuffix(loss, ": gone") { // of a holder that released, and whose answer was lost
			t.Errorf("lost: %s", loss)
		}
	}
	atRest(t, r.lock)
}

const chaosLocks = 3 // one is idle while a dead holder's lease runs

// chaos: contenders on all hosts, their helpers or both are killed at random moments, and the
// clock is set meanwhile, which must not matter. No two hold a lock together, no lock is stuck,
// and nothing is left behind.
func chaos(t *testing.T) {
	var kills atomic.Int64 // how many kills are left to do
	kills.Store(25)
	if *chosen != "" {
		kills.Store(1000)
	}
	stop := make(chan struct{})
	var clock, wg sync.WaitGroup
	clock.Go(func() { stepToAndFro(t, stop) })
	dir := filepath.Dir(place(t))
	for l := range chaosLocks {
		r := race{lock: fmt.Sprintf("%s/L%d", dir, l), tokens: true, contenders: 4, kills: &kills,
			lease: time.Second, work: 10 * time.Millisecond, nap: time.Second}
		wg.Go(func() {
			r.run(t)
			settle(t, r.lock)
		})
	}
	wg.Wait()
	close(stop)
	clock.Wait()
}

// stepToAndFro sets the clock ahead by an hour and back, again and again. All hosts of the guest
// have one clock: hosts that disagree cannot be shown here.
func stepToAndFro(t *testing.T, stop <-chan struct{}) {
	for by := time.Hour; ; by = -by {
		select {
		case <-time.After(3 * time.Second):
		case <-stop:
			if by > 0 {
				return
			}
		}
		step(t, by)
	}
}

// step moves the wall clock.
func step(t *testing.T, by time.Duration) {
	t.Helper()
	mustWork(t, guest.StepClock(by))
}

// proof: a waiter on the same host sees that a killed holder's processes are gone, and does not
// wait for its lease, which is long. A waiter on another host waits for the lease, as crash
// shows.
func proof(t *testing.T) {
	lock := place(t)
	first := hold(t, 1, lock, "--lease", "1h")
	first.Held()
	next := hold(t, 1, lock, "--lease", "1h")
	queued(t, lock, 2)
	next.silent()
	first.kill(both)
	next.Held()
	next.Release()
	atRest(t, lock)
}

// deadLease is the lease of a holder that dies and whose death the waiter cannot prove, so that
// the waiter waits for the lease.
const deadLease = "8s"

// others: the kinds of locks that people use on NFS beside programs other than ours.
func others(t *testing.T) {
	for _, scheme := range []string{"link:", "mkdir:"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			path := place(t)
			r := race{lock: scheme + path, contenders: 6, rounds: 2, lease: time.Minute, work: 5 * time.Millisecond}
			r.run(t)
			r.all(t)
			nothingBeside(t, path)

			// A parent killed with its helper is dead by proof on its own host, and
			// by the lease for another.
			dead := hold(t, 1, r.lock, "--lease", "1h")
			dead.Held()
			dead.kill(both)
			heir := hold(t, 1, r.lock, "--lease", deadLease)
			heir.Held()
			heir.kill(both)
			last := hold(t, 2, r.lock, "--lease", deadLease)
			last.Held()
			last.Release()
			nothingBeside(t, path)
		})
	}
}

// nothingBeside makes sure that a free lock has left nothing in its directory.
func nothingBeside(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(onServer(path))
	lab.Eventually(t, "nothing left in "+dir, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0
	})
}
