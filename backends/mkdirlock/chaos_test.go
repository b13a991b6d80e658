//go:build unix

package mkdirlock

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/test/backendtest"
)

func contest(k kindOfLock) backendtest.Contest {
	return backendtest.Contest{
		Role:       "contender " + k.String(),
		Contenders: 8, Kills: 40, Rounds: 15, Stay: 2 * time.Millisecond,
		Modes: []string{"exclusive"},
		Attempt: func(dir, mode string) (backend.Attempt, error) {
			l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock"), Options: options(k)})
			if err != nil {
				return nil, err
			}
			r := requestFor(mode)
			r.Owner.Lease = 5 * time.Second // a holder that died before its first heartbeat is not proven dead: then the lease decides
			return l.Attempt(r)
		},
	}
}

// TestChaos: processes contend for one lock, and some are killed. The lock is not stuck then.
func TestChaos(t *testing.T) {
	for _, k := range []kindOfLock{plain, numbered} {
		t.Run(k.String(), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "lock")
			stop, orphans := make(chan struct{}), make(chan int)
			go func() { orphans <- reapOrphans(path, k, stop) }()
			contest(k).Run(t, dir)
			close(stop)
			t.Logf("%d empty lock directories", <-orphans)
			h := acquired(t, attemptAt(t, path, k, "exclusive"))
			for range len(leftovers(t, path))/mostStay + 1 { // one call stops after so many that stay
				mustWork(t, h.Tend(t.Context()))
			}
			mustRelease(t, h)
			for _, left := range leftovers(t, path) {
				if !bare(left) && left != path {
					t.Errorf("left behind after chaos: %s", left)
				}
			}
		})
	}
}

// TestKilledPlain: a process that is killed at any moment leaves no empty lock directory, which
// would be in everybody's way for good.
func TestKilledPlain(t *testing.T) {
	c := contest(plain)
	c.Contenders, c.Kills, c.Rounds, c.Stay = 6, 200, 300, 200*time.Microsecond
	if testing.Short() {
		c.Kills = 40
	}
	dir := t.TempDir()
	stop, orphans := make(chan struct{}), make(chan int)
	go func() { orphans <- reapOrphans(filepath.Join(dir, "lock"), plain, stop) }()
	c.Run(t, dir)
	close(stop)
	if n := <-orphans; n > 0 {
		t.Errorf("%d of %d kills left an empty lock directory", n, c.Kills)
	}
}

// bare reports that a reservation has no record: its owner died before it waited. Then only a
// lease tells that it is dead.
func bare(reservation string) bool {
	in, _ := filepath.Glob(filepath.Join(reservation, "*", "*"))
	return strings.Contains(filepath.Base(reservation), labels.ReservationPrefix) && len(in) == 0
}

// orphanLooks is in how many looks, one every 10 ms, an empty lock must be the same to be taken
// for an orphan. Looks are counted, not time: when the machine pauses, so do all processes here.
const orphanLooks = 200

// reapOrphans removes the plain lock whenever it has been empty for long, as an administrator's
// job does. It returns how often it did.
func reapOrphans(path string, k kindOfLock, stop <-chan struct{}) (n int) {
	if k != plain {
		<-stop
		return 0
	}
	var last unix.Stat_t
	for looks := 0; ; looks++ {
		select {
		case <-stop:
			return n
		case <-time.After(10 * time.Millisecond):
		}
		var now unix.Stat_t
		if err := unix.Lstat(path, &now); err != nil || now.Ino != last.Ino || now.Ctim != last.Ctim || now.Nlink > 2 {
			last, looks = now, 0
		}
		if looks > orphanLooks && unix.Rmdir(path) == nil {
			n++
		}
	}
}
