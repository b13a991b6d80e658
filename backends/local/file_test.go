package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// longTime is more than any lease or grace here.
const longTime = 1000 * time.Hour

// graceAndDrift is the grace, and a little more for clocks that run at unequal rates.
const graceAndDrift = grace + grace/100

// putFile makes a lock file with nobody behind it.
func putFile(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644|mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// putRecord makes a lock file as a killed holder leaves it.
func putRecord(t *testing.T, r owner.Record) string {
	t.Helper()
	text, err := lockfile.Format(r)
	if err != nil {
		t.Fatal(err)
	}
	return putFile(t, text, os.ModeSticky)
}

func ownRecord() owner.Record {
	r := backendtest.Request().Owner
	r.ID, r.Acquired = owner.NewID(), time.Now()
	return r
}

func truncated(t *testing.T) string {
	t.Helper()
	text, err := lockfile.Format(ownRecord())
	if err != nil {
		t.Fatal(err)
	}
	return text[:len(text)/2]
}

// TestForeignFileIsNeverBroken: files that are not ours stay, however long.
func TestForeignFileIsNeverBroken(t *testing.T) {
	for name, content := range map[string]string{
		"empty":               "",
		"truncated record":    truncated(t),
		"not UTF-8":           "\xff\xfe\x80\n\xc3(",
		"pid 0":               "0\n",
		"negative pid":        "-1\n",
		"living pid":          strconv.Itoa(os.Getpid()) + "\n",
		"living pid, no feed": strconv.Itoa(os.Getpid()),
		"pid too large":       "99999999999999999999\n",
		"text":                "locked by the backup job\n",
		"NULs":                strings.Repeat("\x00", 100),
		"too long":            strings.Repeat("1\n", lockfile.MaxText),
	} {
		t.Run(name, func(t *testing.T) { staysHeld(t, putFile(t, content, 0)) })
	}
}

func staysHeld(t *testing.T, path string) {
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	for range 3 {
		if h := mustBeHeld(t, a); h.Record != nil || h.Note == "" {
			t.Errorf("the holder by a file that is not ours is told as %+v, want no record, and a note why", h)
		}
		c.advance(longTime)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
		t.Errorf("the file was touched: %v, %v", after, err)
	}
	report, err := openLock(t, path).Read(t.Context())
	if err != nil || len(report.Holders) != 1 {
		t.Errorf("Read gives %+v and the error %v, want one holder", report, err)
	}
}

// TestUnfinishedFileIsBrokenAfterGrace: the sticky bit says that the file is ours, and that its
// maker died before it wrote its record, or that the power went before the disk had it. A look
// leaves the file to its maker for the grace. One Try waits for that, and has the lock.
func TestUnfinishedFileIsBrokenAfterGrace(t *testing.T) {
	for name, content := range map[string]string{
		"empty":            "",
		"truncated record": truncated(t),
		"pid only":         strconv.Itoa(os.Getpid()) + "\n",
		"zeros":            strings.Repeat("\x00", 400),
	} {
		t.Run(name, func(t *testing.T) {
			r, c := fakeRequest()
			r.Strict = true // even the strict break it: the maker has not said OK, so no lease counts
			a := attemptAt(t, putFile(t, content, os.ModeSticky), r)
			for _, after := range []time.Duration{0, grace - 1} {
				c.advance(after)
				mustLookHeld(t, a)
			}
			c.advance(graceAndDrift - grace + 1)
			mustRelease(t, mustHold(t, a))
			mustRelease(t, mustHold(t, attemptAt(t, putFile(t, content, os.ModeSticky), backendtest.Request())))
		})
	}
}

// TestStrangeRecordIsBrokenByLease: a record of ours that this version cannot read, as that of a later
// version, is a holder's that nothing is known of. It is broken for a lease of silence only.
func TestStrangeRecordIsBrokenByLease(t *testing.T) {
	later := strings.Replace(recordText(t), " v="+owner.RecordVersion+" ", " v=later ", 1)
	long := strings.TrimSuffix(later, "\n") + " more=" + strings.Repeat("x", lockfile.MaxText) + "\n"
	for name, content := range map[string]string{"later version": later, "longer than we read": long} {
		t.Run(name, func(t *testing.T) {
			path := putFile(t, content, os.ModeSticky)
			r, c := fakeRequest()
			a := attemptAt(t, path, r)
			if h := mustBeHeld(t, a); h.Verdict != owner.Unknown || h.Record != nil || h.Note == "" || h.Blocked {
				t.Errorf("the holder is told as %+v, want no record, a note why, and that a lease frees it", h)
			}
			c.advance(r.Owner.Lease)
			mustBeHeld(t, a)
			strict := r
			strict.Strict = true
			s := attemptAt(t, path, strict)
			mustBeHeld(t, s)
			c.advance(longTime)
			mustBeHeld(t, s)
			mustRelease(t, mustHold(t, a))
		})
	}
}

// TestMakerIsLeftAlone: a looker does not take the kernel lock of a file that was just made,
// because its maker needs that lock. A breaker breaks the file only with that lock.
func TestMakerIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	maker, err := lockfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := a.look(f); err != nil || a.seen.due <= 0 {
		t.Fatalf("a look at a file that was just made returns %v, and says that it may be broken in %v; want no error, and a while", err, a.seen.due)
	}
	if free, err := maker.TryLock(); !free { // while f is open
		t.Fatalf("the looker has the kernel lock, %v", err)
	}
	c.advance(graceAndDrift)
	mustBeHeld(t, a)
	if !a.seen.locked || maker.Named() != nil {
		t.Errorf("its maker has the kernel lock of a file: a look after the grace says that it is locked: %v, and that the path names another file: %v; want true, and no error", a.seen.locked, maker.Named())
	}
}

// TestUnfinishedFileThatGrows: its maker is slow, not dead.
func TestUnfinishedFileThatGrows(t *testing.T) {
	path := putFile(t, "", os.ModeSticky)
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	for n := range 6 {
		mustLookHeld(t, a)
		c.advance(grace * 3 / 4)
		if err := os.Truncate(path, int64(n+1)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHugeFile: looking at a huge file costs no more than looking at a small one. Reading /proc,
// to see who has the kernel lock, costs the same for both, but for processes that come and go.
func TestHugeFile(t *testing.T) {
	cost := func(size int) uint64 {
		path := putFile(t, "1\n", 0)
		if err := os.Truncate(path, int64(size)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		staysHeld(t, path)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small := cost(2 * lockfile.MaxText)
	if n := cost(1 << 30); n > 2*small+16<<20 {
		t.Errorf("a look at a huge file took %d bytes of memory, and %d at a small one", n, small)
	}
}

func elsewhere() owner.Record {
	r := ownRecord()
	r.Place.Host, r.Place.Machine, r.Place.Boot = "elsewhere", "another", "boot"
	return r
}

// TestOtherHost: nothing proves that this holder is dead, so its lease decides.
func TestOtherHost(t *testing.T) {
	record := elsewhere()
	r, c := fakeRequest()
	a := attemptAt(t, putRecord(t, record), r)
	if h := mustBeHeld(t, a); h.Verdict != owner.Unknown || h.Record.ID != record.ID {
		t.Errorf("the holder is told as %+v, want the verdict unknown and the id %s", h, record.ID)
	}
	c.advance(record.Lease)
	mustBeHeld(t, a) // clocks run at unequal rates
	c.advance(record.Lease / 100)
	mustRelease(t, mustHold(t, a))
}

func TestOtherHostIsNotBrokenAtFirstSight(t *testing.T) {
	record := elsewhere()
	path := putRecord(t, record)
	old := time.Now().Add(-longTime)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	r, c := fakeRequest()
	c.advance(longTime)
	mustBeHeld(t, attemptAt(t, path, r))
}

func TestOtherHostStrict(t *testing.T) {
	r, c := fakeRequest()
	r.Strict = true
	a := attemptAt(t, putRecord(t, elsewhere()), r)
	for range 5 {
		mustBeHeld(t, a)
		c.advance(longTime)
	}
}

// TestWaitEndsWithLease: the waiter wakes itself when the lease is over.
func TestWaitEndsWithLease(t *testing.T) {
	record := elsewhere()
	r, c := fakeRequest()
	a := attemptAt(t, putRecord(t, record), r)
	mustBeHeld(t, a)
	done := make(chan error, 1)
	go func() { done <- a.Wait(t.Context()) }()
	lab.Eventually(t, "the waiter sets its timer", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.timers) > 0
	})
	c.advance(record.Lease + record.Lease/100)
	if err := unblocked(t, func() error { return <-done }); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, mustHold(t, a))
}

// TestHeartbeatsWakeNobody: otherwise a hundred waiters would wake a hundred times.
func TestHeartbeatsWakeNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	r, _ := fakeRequest()
	a := attemptAt(t, path, r)
	mustBeHeld(t, a)
	mustSleep(t, a, func() {
		if err := h.Heartbeat(t.Context()); err != nil {
			t.Error(err)
		}
	})
	mustRelease(t, h)
}

// mustSleep makes sure that a wait goes on for a while, during which it calls f. On a slow
// machine it proves less, but does not fail.
func mustSleep(t *testing.T, a backend.Attempt, f func()) {
	t.Helper()
	const pause = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- a.Wait(ctx) }()
	time.Sleep(pause)
	f()
	time.Sleep(pause)
	cancel()
	if err := unblocked(t, func() error { return <-done }); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended early: %v", err)
	}
}

// TestProvenDead: these holders are broken at once, even by a strict waiter.
func TestProvenDead(t *testing.T) {
	recycled := ownRecord()
	recycled.Helper.Start-- // our pid, but another process had it when the record was written
	ended := ownRecord()
	ended.Helper = backendtest.DeadProcess(t)
	rebooted := ownRecord()
	rebooted.Place.Boot = "00000000-0000-0000-0000-000000000000"
	rebooted.Helper.Start = 1 << 62 // of an uptime that this boot has not reached
	for name, record := range map[string]owner.Record{
		"pid used again": recycled, "process ended": ended, "earlier boot": rebooted,
	} {
		t.Run(name, func(t *testing.T) {
			if record.Place.Machine == "" {
				lab.Lacking(t, "there is no /etc/machine-id")
			}
			path := putRecord(t, record)
			report, err := openLock(t, path).Read(t.Context())
			if err != nil || len(report.Holders) != 1 || report.Holders[0].Verdict != owner.Dead {
				t.Errorf("Read gives %+v and the error %v, want one holder, who is dead", report, err)
			}
			r, _ := fakeRequest()
			r.Strict = true
			mustRelease(t, mustHold(t, attemptAt(t, path, r)))
			mustBeEmpty(t, filepath.Dir(path))
		})
	}
}

func TestDeadHolderWhoseKernelLockIsKept(t *testing.T) {
	record := ownRecord()
	record.Helper = backendtest.DeadProcess(t)
	path := putRecord(t, record)
	keeper, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if free, err := keeper.TryLock(); !free || err != nil {
		t.Fatalf("the kernel lock is free: %v (%v), want true", free, err)
	}
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	for range 3 {
		mustBeHeld(t, a)
		c.advance(longTime)
	}
	mustSleep(t, a, func() {}) // the dead holder must not make the waiter spin
	keeper.Close()
	// Several tries: our own place in the kernel's queue may get the file just before us.
	mustRelease(t, mustAcquire(t, a))
}

func TestOtherToolsPID(t *testing.T) {
	dead := backendtest.DeadProcess(t)
	for _, content := range []string{strconv.Itoa(dead.PID), "  " + strconv.Itoa(dead.PID) + "\n", strconv.Itoa(dead.PID) + "\n\n"} {
		path := putFile(t, content, 0)
		r, _ := fakeRequest()
		mustRelease(t, mustHold(t, attemptAt(t, path, r)))
		mustBeEmpty(t, filepath.Dir(path))
	}
	path := putFile(t, strconv.Itoa(os.Getpid())+"\n", 0)
	r, _ := fakeRequest()
	if h := mustBeHeld(t, attemptAt(t, path, r)); h.PID != os.Getpid() || h.Verdict != owner.Alive {
		t.Errorf("the holder is told as %+v, want this process, pid %d, and that it is alive", h, os.Getpid())
	}
}

// TestWallClockSteps: a step of the wall clock shows only in the times of files, and those must
// decide nothing.
func TestWallClockSteps(t *testing.T) {
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forth": time.Hour} {
		t.Run(name, func(t *testing.T) {
			heldThroughStep(t, step)
			leaseNotShortenedByStep(t, step)
		})
	}
}

func heldThroughStep(t *testing.T, step time.Duration) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	mustBeHeld(t, a)
	stepTimes(t, path, step)
	mustBeHeld(t, a)
	c.advance(longTime)
	mustBeHeld(t, a)
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Error(err)
	}
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}

func leaseNotShortenedByStep(t *testing.T, step time.Duration) {
	record := elsewhere()
	path := putRecord(t, record)
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	mustBeHeld(t, a)
	c.advance(record.Lease / 2)
	stepTimes(t, path, step) // looks like a heartbeat: the watch starts again
	mustBeHeld(t, a)
	c.advance(record.Lease)
	mustBeHeld(t, a)
	c.advance(record.Lease / 100)
	mustRelease(t, mustHold(t, a))
}

func stepTimes(t *testing.T, path string, step time.Duration) {
	t.Helper()
	when := time.Now().Add(step)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

// TestHeartbeatRestartsTheWatch: a holder on another host that sends heartbeats is not broken.
func TestHeartbeatRestartsTheWatch(t *testing.T) {
	record := elsewhere()
	path := putRecord(t, record)
	r, c := fakeRequest()
	var a backend.Attempt = attemptAt(t, path, r)
	for n := range 5 {
		mustBeHeld(t, a)
		c.advance(record.Lease)
		stepTimes(t, path, time.Duration(n)*time.Second)
	}
	mustBeHeld(t, a)
}

// TestUnlinkedButOpen: another tool removes its lock file, but keeps it open and lives on. To the
// kernel the file is not gone, but the lock is free.
func TestUnlinkedButOpen(t *testing.T) {
	t.Parallel()
	_, p := startSleep(t)
	path := putFile(t, fmt.Sprintf("%d\n", p.PID), 0)
	open, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	a := attemptAt(t, path, backendtest.Request())
	mustBeHeld(t, a)
	done := make(chan error, 1)
	go func() { done <- a.Wait(t.Context()) }()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("the waiter sleeps on although the lock is free")
	}
	mustRelease(t, mustHold(t, a))
}

// TestNumbersThatAreNoPID: a script may write the time, or any number, into its lock file.
func TestNumbersThatAreNoPID(t *testing.T) {
	for _, content := range []string{"1795244232\n", "4194305\n", "4294967297\n", "-5\n", "0\n"} {
		path := putFile(t, content, 0)
		mustBeHeld(t, attemptAt(t, path, backendtest.Request()))
	}
}

// TestFileOfFlock: the file that a flock: lock leaves is respected, with a hint, though the process
// on record is dead; and nobody removes it.
func TestFileOfFlock(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID, r.Kind, r.Helper = owner.NewID(), "flock", backendtest.DeadProcess(t)
	text, err := r.Format()
	backendtest.MustWork(t, err)
	path := putFile(t, text, 0)
	held := mustBeHeld(t, attemptAt(t, path, backendtest.Request()))
	if !strings.Contains(held.String(), "write flock:"+path) || !held.Blocked {
		t.Errorf("a lock that flock(1) has is told as held by %v, want that it names write flock:%s, and Blocked", held, path)
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != text {
		t.Errorf("the file holds %q, %v", left, err)
	}
}
