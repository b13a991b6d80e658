//go:build linux

package nfslab

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stepped: the wall clock jumps by an hour and back while a lock is held, waited
// for, and left by a dead holder; nobody cares. All hosts of the guest have one
// clock: hosts that disagree cannot be shown here.
func stepped(t *testing.T) {
	const lease = 4 * time.Second
	lock := place(t)
	first := hold(t, 1, lock, "--lease", lease.String())
	id := first.held().Value("id")
	next := hold(t, 2, lock, "--lease", lease.String())
	for _, by := range []time.Duration{time.Hour, -2 * time.Hour, time.Hour} {
		step(t, by)
		time.Sleep(2 * lease)
		first.silent()
		next.silent()
		heldBy(t, 3, lock, id)
	}
	first.release()
	next.held()

	step(t, time.Hour)
	last := hold(t, 3, lock, "--lease", lease.String())
	time.Sleep(lease)
	last.silent()
	step(t, -time.Hour)
	next.kill(helperToo)
	at := now()
	took := last.held().at - at
	if took < lease*3/4 {
		t.Errorf("broken %v after the kill, before the lease of %v was over", took, lease)
	}
	t.Logf("freed %v after the kill, with a lease of %v", took.Round(time.Millisecond), lease)
	last.release()
	settle(t, lock)
}

// step moves the wall clock.
func step(t *testing.T, by time.Duration) {
	t.Helper()
	to := unix.NsecToTimespec(time.Now().Add(by).UnixNano())
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &to); err != nil {
		t.Fatal(err)
	}
}
