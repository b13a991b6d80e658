package backendtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// leaping is a clock that a test sets ahead.
type leaping struct {
	clock.Boot
	ahead atomic.Int64
}

// Now implements clock.Clock.
func (c *leaping) Now() time.Duration { return c.Boot.Now() + time.Duration(c.ahead.Load()) }

// beatsUnseen: nobody here can tell whether a holder of another host lives. As long as its sign of
// life changes it keeps the lock. When it is silent for its lease, it is broken.
func beatsUnseen(t *testing.T, f Fixture) {
	r := elsewhere()
	h := take(t, f, r)
	a, c := watches(t, f)
	for range 6 {
		time.Sleep(tick)
		MustStillHold(t, h)
		c.ahead.Add(int64(r.Owner.Lease / 2))
		MustBeHeld(t, a)
	}
	f.Abandon(h)
	for range 10 {
		c.ahead.Add(int64(r.Owner.Lease))
		next, err := a.Try(t.Context())
		if err == nil {
			MustRelease(t, next)
			return
		}
		if !errors.As(err, new(*backend.HeldError)) {
			t.Fatal(err)
		}
		time.Sleep(tick)
	}
	t.Error("a holder of another host that is silent for ten leases still has the lock")
}

// serverExpires: a holder of another host keeps the lock while it beats, for longer than its lease. Once
// it is silent, the server ends its lease, even if who waits asks for proof.
func serverExpires(t *testing.T, f Fixture) {
	r := elsewhere()
	r.Owner.Lease = 3 * owner.MinLease
	h := take(t, f, r)
	strict := Request()
	strict.Strict = true
	a := attempt(t, f, strict)
	for start := (clock.Boot{}).Now(); (clock.Boot{}).Now()-start < 2*r.Owner.Lease; time.Sleep(owner.BeatsEvery(r.Owner.Lease)) {
		MustStillHold(t, h)
		MustBeHeld(t, a)
	}
	f.Abandon(h)
	start := (clock.Boot{}).Now()
	next := MustAcquire(t, a)
	if d := (clock.Boot{}).Now() - start; d < r.Owner.Lease/2 {
		t.Errorf("a silent holder lost the lock after %v, want no less than its lease of %v, but for a heartbeat", d, r.Owner.Lease)
	}
	MustBeLost(t, h)
	MustRelease(t, next)
	nothingLeft(t, f)
}

// elsewhere is a request of another host.
func elsewhere() backend.Request {
	r := Request()
	r.Owner.Place.Host, r.Owner.Place.Machine, r.Owner.Place.Boot = "elsewhere", owner.NewID(), owner.NewID()
	return r
}

// watches returns an attempt that has seen the holder, and its clock.
func watches(t *testing.T, f Fixture) (backend.Attempt, *leaping) {
	t.Helper()
	c, q := &leaping{}, Request()
	q.Clock = c
	a := attempt(t, f, q)
	MustBeHeld(t, a)
	return a, c
}

// tick is how far apart signs of life are that may be times of a file system.
const tick = 20 * time.Millisecond

// watchedAnew: the silence of a holder is not held against the next one, though neither has sent a
// heartbeat yet.
func watchedAnew(t *testing.T, f Fixture) {
	r := elsewhere()
	first := take(t, f, r)
	a, c := watches(t, f)
	c.ahead.Add(int64(r.Owner.Lease * 3 / 4))
	MustBeHeld(t, a)
	MustRelease(t, first)
	time.Sleep(tick)
	second, err := attempt(t, f, elsewhere()).Try(t.Context())
	if errors.As(err, new(*backend.HeldError)) { // it is the turn of who waits
		MustWork(t, a.Withdraw(t.Context()))
		return
	}
	MustWork(t, err)
	c.ahead.Add(int64(r.Owner.Lease / 2))
	MustBeHeld(t, a)
	MustRelease(t, second)
}

// unreadable: whoever wrote a record that nobody can read, as a later version may, has the lock.
func unreadable(t *testing.T, f Fixture) {
	if f.Garble == nil {
		return
	}
	_ = take(t, f, Request())
	f.Garble()
	MustBeHeld(t, attempt(t, f, Request()))
	if seen := report(t, f).Holders; len(seen) != 1 {
		t.Errorf("Read of a lock with a record that cannot be read shows %s, want somebody", shown(seen))
	}
}

// GarbleFiles is Fixture.Garble for kinds that keep records in files below a directory.
func GarbleFiles(t *testing.T, dir string) {
	t.Helper()
	MustWork(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return os.WriteFile(path, []byte("of a later version\n"), 0o600)
	}))
}
