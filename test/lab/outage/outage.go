// Package outage lets a server go away while somebody has the lock and others wait. If the server
// comes back within the lease, the holder keeps the lock; else the holder says that it is lost.
// In both cases the others get the lock afterwards.
package outage

import (
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// An Outage is an outage of a server that has a lock.
type Outage struct {
	Hold    func(flags ...string) *lab.Helper // starts a helper for the lock
	Stop    func()                            // from then on the server answers nobody
	Restart func()                            // from then on it answers again
	Holder  func() string                     // the id of the holder, as the server shows it
}

// BackInTime is an outage that ends within the lease.
func (o Outage) BackInTime(t *testing.T) {
	t.Helper()
	// On a busy machine a server takes long to come back.
	const lease = "64s"
	first := lab.Record(t, o.Hold, "--lease", lease, "--refresh", "8s", "--beats")
	id := first.Held().Value("id")
	a, b := lab.Waiting(t, o.Hold, "--lease", lease), lab.Waiting(t, o.Hold, "--lease", lease)
	o.Stop()
	lab.Eventually(t, "a heartbeat fails", func() bool { return first.Has("late") }, first.Stderr)
	o.Restart()
	first.Says(protocol.WordBeat)
	for _, w := range []*lab.Helper{a, b} {
		w.Silent(time.Millisecond)
	}
	if holder := o.Holder(); holder != id {
		t.Errorf("held by %q, want %s", holder, id)
	}
	first.Release()
	lab.InTurn(a, b)
}

// BackTooLate is an outage that is longer than the lease.
func (o Outage) BackTooLate(t *testing.T) {
	t.Helper()
	first := o.Hold("--lease", "12s")
	first.Held()
	a, b := lab.Waiting(t, o.Hold), lab.Waiting(t, o.Hold)
	o.Stop()
	if code := first.Says(protocol.WordLost).Value("code"); code != string(protocol.Expired) {
		t.Errorf("lost: %s", code)
	}
	for _, w := range []*lab.Helper{a, b} {
		w.Silent(time.Millisecond)
	}
	o.Restart()
	first.LetGo()
	first.Exits(protocol.Expired.Exit())
	lab.InTurn(a, b)
}
