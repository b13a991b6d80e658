//go:build linux

package nfslab

import (
	"strings"
	"testing"
	"time"
)

// cut: a holder that cannot reach the server knows that it has lost the lock
// before anybody else gets it, and touches nothing when it is back.
func cut(t *testing.T) {
	const lease = 6 * time.Second
	lock := place(t)
	first := hold(t, 1, lock, "--lease", lease.String())
	old := first.held().Value("id")
	next := hold(t, 2, lock, "--lease", lease.String())
	queued(t, lock, 2)

	do(t, "hostnet", "1", "down")
	t.Cleanup(func() { do(t, "hostnet", "1", "up") })
	at := now()
	lost := first.next("LOST", waitLimit).at
	taken := next.held()
	if taken.at <= lost {
		t.Errorf("the next had the lock %v before the first knew its loss", lost-taken.at)
	}
	if taken.at-at < lease*3/4 {
		t.Errorf("the lock was broken %v after the cut, before the lease of %v was over", taken.at-at, lease)
	}
	t.Logf("LOST %v, the next OK %v after the cut", (lost - at).Round(time.Millisecond), (taken.at - at).Round(time.Millisecond))

	do(t, "hostnet", "1", "up")
	first.letGo()
	first.exit(79, 2*waitLimit)
	time.Sleep(2 * lease) // heartbeats, and requests that were under way
	next.silent()
	heldBy(t, 3, lock, taken.Value("id"))
	for _, path := range tree(lock) {
		if strings.HasPrefix(path, "/R/") && strings.Contains(path, old) {
			t.Errorf("it is back: %s", path)
		}
	}
	next.release()
	last := hold(t, 1, lock)
	last.held()
	last.release()
	atRest(t, lock)
}
