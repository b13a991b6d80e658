package local

import (
	"testing"

	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// TestOneOfSeveral: a process that waits for other locks, too, sleeps in no queue. It still gets
// the lock when only the kernel lock tells that it can be had, as when somebody else keeps the
// kernel lock of a dead holder's file. When the holder releases, it gets the lock as quickly as
// ever.
func TestOneOfSeveral(t *testing.T) {
	r := backendtest.Request()
	r.Several = true
	dead := backendtest.Request().Owner
	dead.ID, dead.Helper = owner.NewID(), backendtest.DeadProcess(t)
	text, err := lockfile.Format(dead)
	backendtest.MustWork(t, err)
	path := putFile(t, text, 0)
	flock, err := lockfile.Open(path)
	backendtest.MustWork(t, err)
	mustLock(t, flock)
	kept, other := attemptAt(t, path, r), t.TempDir()+"/lock"
	h := mustHold(t, attemptAt(t, other, backendtest.Request()))
	plain := []*attempt{attemptAt(t, other, r), attemptAt(t, other, r), attemptAt(t, other, r)}
	before := queued(t)
	waits := []*sleeper{{kept, nil, make(chan error, 1)}}
	for _, a := range plain {
		waits = append(waits, &sleeper{a, nil, make(chan error, 1)})
	}
	for _, s := range waits {
		mustBeHeld(t, s)
		s.wait(t)
	}
	lab.Eventually(t, "all watch the other", func() bool { return inotifies(t) >= len(plain) })
	if n := queued(t) - before; n != 0 {
		t.Errorf("%d sleep in a queue", n)
	}
	_ = flock.Close()
	mustRelease(t, waits[0].mustTake(t))
	mustRelease(t, h)
	for _, s := range waits[1:] {
		mustRelease(t, s.mustTake(t))
	}
}
