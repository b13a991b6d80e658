//go:build linux

package nfslab

import (
	"testing"
	"time"
)

// killed: a holder killed with -9, together with its parent.
func killed(t *testing.T) {
	t.Run("here", killedHere)
	t.Run("elsewhere", killedElsewhere)
}

// killedHere: on the waiter's host the processes are seen to be gone, and the
// lease, which is long, is not waited for.
func killedHere(t *testing.T) {
	lock := place(t)
	const lease = 60 * time.Second
	first := hold(t, 1, lock, "--lease", lease.String())
	first.held()
	next := hold(t, 1, lock, "--lease", lease.String())
	queued(t, lock, 2)
	next.silent()
	first.kill(helperToo)
	at := now()
	if took := next.held().at - at; took > lease/2 { // the last heartbeat is a quarter older
		t.Errorf("freed %v after the kill, with a lease of %v", took, lease)
	} else {
		t.Logf("freed %v after the kill", took.Round(time.Millisecond))
	}
	next.release()
	atRest(t, lock)
}

// killedElsewhere: a waiter on another host must wait for the whole lease, as the
// holder may have sent its last heartbeat right before the kill.
func killedElsewhere(t *testing.T) {
	const lease = 4 * time.Second
	lock := place(t)
	first := hold(t, 1, lock, "--lease", lease.String())
	first.held()
	next := hold(t, 2, lock)
	time.Sleep(lease) // heartbeats keep it
	next.silent()
	first.kill(helperToo)
	at := now()
	took := next.held().at - at
	// The last heartbeat is at most a quarter of the lease old.
	if took < lease*3/4 {
		t.Errorf("broken %v after the kill: before the lease of %v was over", took, lease)
	}
	t.Logf("freed %v after the kill, with a lease of %v", took.Round(time.Millisecond), lease)
	next.release()
	atRest(t, lock)
}
