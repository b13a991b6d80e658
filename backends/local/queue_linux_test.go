package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// As in race_test.go, one process plays several. The clocks of its waiters stand still unless a
// test advances one, so only the kernel ends a sleep.

// A sleeper waits for a lock in the background, as one of many.
type sleeper struct {
	*attempt
	clock *fakeClock
	woken chan error
}

// lineUp lets n waiters come, one after the other, to a lock that enough others watch. Each
// sleeps in the kernel's queue before the next one comes.
func lineUp(t *testing.T, path string, n int) (all []*sleeper) {
	t.Helper()
	fill(t, path)
	for range n {
		s := come(t, path)
		s.mustQueue(t)
		all = append(all, s)
	}
	return all
}

// fill takes the free seats of a lock. At the end of the test nobody may be left in a queue.
func fill(t *testing.T, path string) {
	t.Helper()
	t.Cleanup(func() { lab.Eventually(t, "nobody sleeps", func() bool { return queued(t) == 0 }) })
	for range seats - seatsTaken(t, path) {
		f := mustOpen(t, path)
		t.Cleanup(func() { _ = f.Close() })
		if seated, err := f.Seat(seats); !seated || err != nil {
			t.Fatalf("a free seat was taken: %v (%v), want true", seated, err)
		}
	}
}

// come makes a waiter and its first try.
func come(t *testing.T, path string) *sleeper {
	t.Helper()
	r, c := fakeRequest()
	s := &sleeper{attemptAt(t, path, r), c, make(chan error, 1)}
	t.Cleanup(func() { _ = s.Withdraw(context.Background()) })
	mustBeHeld(t, s)
	return s
}

// wait begins to wait.
func (s *sleeper) wait(t *testing.T) { go func() { s.woken <- s.Wait(t.Context()) }() }

// mustQueue begins to wait, and returns when s sleeps in the kernel's queue.
func (s *sleeper) mustQueue(t *testing.T) {
	t.Helper()
	before := queued(t)
	s.wait(t)
	lab.Eventually(t, "one more in the queue", func() bool { return queued(t) == before+1 })
}

// mustNap advances the clock of s until s wakes by itself.
func (s *sleeper) mustNap(t *testing.T) {
	t.Helper()
	lab.Eventually(t, "it wakes", func() bool {
		s.clock.advance(longNap) // again and again: it may be in the queue, and not have set its alarm yet
		return len(s.woken) > 0
	})
	s.mustWake(t)
}

// queued is how many threads of this process sleep in the kernel's queues, that is in flock(2),
// in which they sleep for nothing else.
func queued(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/syscall")
	backendtest.MustWork(t, err)
	if len(all) == 0 {
		lab.Lacking(t, "needs /proc/self/task/*/syscall")
	}
	for _, name := range all {
		raw, _ := os.ReadFile(name) // it may have ended
		if strings.HasPrefix(string(raw), fmt.Sprint(unix.SYS_FLOCK, " ")) {
			n++
		}
	}
	return n
}

func (s *sleeper) mustWake(t *testing.T) {
	t.Helper()
	if err := unblocked(t, func() error { return <-s.woken }); err != nil {
		t.Fatalf("Wait of a waiter whose turn came fails: %v", err)
	}
}

// mustTake wakes and takes the lock.
func (s *sleeper) mustTake(t *testing.T) backend.Hold {
	t.Helper()
	s.mustWake(t)
	return mustHold(t, s)
}

// mustSleepOn makes sure that these were not woken. A sleep in the kernel's queue proves it: the
// kernel wakes all that it wakes at once, with the release, and a waiter that was woken does not
// sleep again by itself.
func mustSleepOn(t *testing.T, all ...*sleeper) {
	t.Helper()
	for i, s := range all {
		select {
		case err := <-s.woken:
			t.Fatalf("waiter %d, which must sleep on, has woken with the error %v", i, err)
		default:
		}
	}
	lab.Eventually(t, "just these sleep in the queue", func() bool { return queued(t) == len(all) })
}

// TestReleaseWakesOne: while the lock goes from hand to hand, all but the next waiter sleep on.
func TestReleaseWakesOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. A has the lock, and others wait for it.
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	all := lineUp(t, path, 5)
	for len(all) > 0 {
		// 2. The holder releases. The first waiter takes the lock, and beside its new file keeps
		// the kernel lock of the old one. 3. So the others sleep on.
		mustRelease(t, h)
		h = all[0].mustTake(t)
		all = all[1:]
		mustSleepOn(t, all...)
	}
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}

// TestBatonOfOneWhoLost: the kernel wakes a waiter, and somebody else is quicker.
func TestBatonOfOneWhoLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a := mustHold(t, attemptAt(t, path, backendtest.Request()))
	all := lineUp(t, path, 3)
	// 1. A releases, which wakes the first waiter.
	mustRelease(t, a)
	all[0].mustWake(t)
	// 2. N, which has not waited, takes the lock.
	n := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 3. The first waiter finds that out, and sleeps in the queue for N's file. It has A's old
	// file, so those behind it sleep on.
	mustBeHeld(t, all[0])
	fill(t, path)
	all[0].mustQueue(t)
	mustSleepOn(t, all...)
	// 4. N releases, which wakes the first waiter and nobody else.
	mustRelease(t, n)
	h := all[0].mustTake(t)
	mustSleepOn(t, all[1:]...)
	for _, s := range all[1:] {
		mustRelease(t, h)
		h = s.mustTake(t)
	}
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}

// TestHolderOfManyDies: the first waiter takes the dead holder's lock. The others get their turns
// one after the other.
func TestHolderOfManyDies(t *testing.T) {
	path := deadLock(t)
	// 1. A helper that has ended by now had the kernel lock a moment ago.
	keeper := mustOpen(t, path)
	mustLock(t, keeper)
	all := lineUp(t, path, 4)
	// 2. The kernel drops its lock, and gives it to the first.
	_ = keeper.Close()
	for _, s := range all {
		h := s.mustTake(t)
		mustRelease(t, h)
	}
	mustBeEmpty(t, filepath.Dir(path))
}

// TestStoppedWithBaton: the kernel wakes a waiter, which is stopped before it can take the lock.
func TestStoppedWithBaton(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 1. S is the first in the queue, and will do nothing when its turn comes.
	stopped := mustOpen(t, path)
	locked := make(chan error, 1)
	go func() { locked <- stopped.Lock() }()
	lab.Eventually(t, "S in the queue", func() bool { return queued(t) == 1 })
	// 2. W comes behind S, and finds a seat. The others come behind W.
	w := come(t, path)
	w.wait(t)
	lab.Eventually(t, "it watches", func() bool { return seatsTaken(t, path) == 1 })
	others := lineUp(t, path, 3)
	// 3. A releases: S has the kernel lock of A's file.
	mustRelease(t, a)
	backendtest.MustWork(t, unblocked(t, func() error { return <-locked }))
	// 4. W watches, so it notices, and takes the lock at once.
	h := w.mustTake(t)
	// 5. Nobody but S could wake the others. They look by themselves. For the kernel they stay
	// behind S, but they find a seat and take the lock.
	for _, s := range others {
		s.mustNap(t)
		mustBeHeld(t, s)
		s.wait(t)
		lab.Eventually(t, "it watches", func() bool { return seatsTaken(t, path) > 0 })
		mustRelease(t, h)
		h = s.mustTake(t)
	}
	mustRelease(t, h)
	// 6. S goes on. Its kernel lock is of no use.
	mustBeOthers(t, stopped.Named())
	_ = stopped.Close()
	mustBeEmpty(t, filepath.Dir(path))
}

// longNap is longer than the first sleep in the queue.
const longNap = 3 * slowLook

// seatsTaken is how many watch a lock.
func seatsTaken(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	backendtest.MustWork(t, err)
	defer f.Close()
	for i := range int64(seats) {
		seat := unix.Flock_t{Type: unix.F_WRLCK, Start: i, Len: 1}
		backendtest.MustWork(t, unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &seat))
		if seat.Type != unix.F_UNLCK {
			n++
		}
	}
	return n
}

// TestNapEnds: a waiter that sleeps in the queue looks now and then by itself. It takes a lock
// that is free although nobody told it so.
func TestNapEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	s := lineUp(t, path, 1)[0]
	// The holder is stopped, and keeps the kernel lock of a file that somebody has removed.
	backendtest.MustWork(t, os.Remove(path))
	mustSleepOn(t, s)
	s.mustNap(t)
	taken := mustHold(t, s)
	backendtest.MustBeLost(t, h)
	mustStillHold(t, taken)
	mustRelease(t, taken)
}

// TestLeavingTheQueue: a cancelled wait ends at once, though nothing can wake its thread. Its
// turn goes to the next waiter.
func TestLeavingTheQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	fill(t, path)
	quits := come(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { quits.woken <- quits.Wait(ctx) }()
	lab.Eventually(t, "it sleeps", func() bool { return queued(t) == 1 })
	next := come(t, path)
	next.mustQueue(t)
	cancel()
	if err := unblocked(t, func() error { return <-quits.woken }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	backendtest.MustWork(t, quits.Withdraw(t.Context()))
	mustRelease(t, h)
	mustRelease(t, next.mustTake(t))
}

// TestOnePlaceInTheQueue: a process that comes to the same lock again and again, as a set of
// locks does, sleeps in the queue once, and keeps its first place.
func TestOnePlaceInTheQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	fill(t, path)
	l := openLock(t, path)
	var a backend.Attempt
	for range 20 {
		if a != nil {
			backendtest.MustWork(t, a.Withdraw(t.Context()))
		}
		r, _ := fakeRequest()
		var err error
		if a, err = l.Attempt(r); err != nil {
			t.Fatal(err)
		}
		mustBeHeld(t, a)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Wait(ctx) }()
		lab.Eventually(t, "it sleeps", func() bool { return queued(t) == 1 })
		cancel()
		<-ended
	}
	next := come(t, path)
	next.mustQueue(t)
	mustRelease(t, h)
	lab.Eventually(t, "its turn", func() bool { return len(a.(*attempt).bell) == 1 })
	mustSleepOn(t, next)
	mustRelease(t, mustHold(t, a))
	mustRelease(t, next.mustTake(t))
}

// TestTwoTurns: a turn comes while its waiter looks at another file. It is not forgotten when the
// next turn comes.
func TestTwoTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. A has the lock. K is the first in the queue for its file, and W comes behind it.
	a := mustHold(t, attemptAt(t, path, backendtest.Request()))
	k, probe := mustOpen(t, path), mustOpen(t, path)
	defer probe.Close()
	locked := make(chan error, 1)
	go func() { locked <- k.Lock() }()
	lab.Eventually(t, "K in the queue", func() bool { return queued(t) == 1 })
	w := lineUp(t, path, 1)[0]
	// 2. A releases: K has the kernel lock of its file. N takes the lock.
	mustRelease(t, a)
	backendtest.MustWork(t, unblocked(t, func() error { return <-locked }))
	n := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 3. W wakes by itself and sees N's file. Its place in the queue is still the one for A's
	// file.
	w.mustNap(t)
	mustBeHeld(t, w)
	fill(t, path)
	// 4. K lets go, so W gets A's file. Only then W sleeps again.
	_ = k.Close()
	lab.Eventually(t, "W's turn", func() bool { return len(w.bell) == 1 })
	w.wait(t)
	w.mustWake(t)
	// 5. N releases. If W sleeps for N's file as well, it gets that, too.
	mustRelease(t, n)
	lab.Eventually(t, "nobody sleeps", func() bool { return queued(t) == 0 })
	// 6. W takes the lock. With its release it lets go of all that the queue gave it.
	mustRelease(t, mustHold(t, w))
	if free, err := probe.TryLock(); !free || err != nil {
		t.Errorf("the kernel lock of A's file is still kept: %v, %v", free, err)
	}
	mustBeEmpty(t, filepath.Dir(path))
}

// TestLostLockPassesBatons: a holder that has lost its lock lets go of its batons, so that the
// others come.
func TestLostLockPassesBatons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a := mustHold(t, attemptAt(t, path, backendtest.Request()))
	all := lineUp(t, path, 2)
	mustRelease(t, a)
	h := all[0].mustTake(t)
	backendtest.MustWork(t, os.Remove(path))
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat of who lost it: %v", err)
	}
	mustRelease(t, all[1].mustTake(t))
	backendtest.MustBeLost(t, h)
}

// An unlookable is a file for whose path the kernel once has no answer.
type unlookable struct{ File }

func (unlookable) Named() error { return unix.EIO }

// TestTurnWithoutALook: a turn at the file of a dead holder, whose path cannot be looked at for a
// moment, does not make the file a baton. Else the waiter itself would keep the file from being
// broken, by itself and by all others, for as long as it waits.
func TestTurnWithoutALook(t *testing.T) {
	path := deadLock(t)
	a := attemptAt(t, path, backendtest.Request())
	f := mustOpen(t, path)
	mustLock(t, f)
	a.lock.queue.place, a.lock.queue.file, a.lock.queue.bell = given, unlookable{f}, a.bell
	mustRelease(t, mustHold(t, a))
}

// TestMostBatons: a process with too many batons lets go of the oldest.
func TestMostBatons(t *testing.T) {
	dir := t.TempDir()
	var b batons
	var files []string
	for i := range mostBatons + 1 {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		f := mustCreate(t, files[i])
		mustLock(t, f)
		b.add(f)
	}
	kept := func(path string) bool {
		f := mustOpen(t, path)
		defer f.Close()
		free, err := f.TryLock()
		return !free && err == nil
	}
	if kept(files[0]) || !kept(files[1]) || !kept(files[mostBatons]) {
		t.Error("not just the oldest is free")
	}
	b.pass()
	if kept(files[1]) || kept(files[mostBatons]) {
		t.Error("batons are kept after they were passed on")
	}
}

// TestQueueNeedsNoInotify: of a lock's waiters, only those that watch it use up inotify
// instances, of which a user has few.
func TestQueueNeedsNoInotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	before := inotifies(t)
	all := lineUp(t, path, 10)
	if n := inotifies(t); n > before { // fewer: those of earlier tests are closed by now
		t.Errorf("%d instances of inotify, before %d", n, before)
	}
	for _, s := range all {
		mustRelease(t, h)
		h = s.mustTake(t)
	}
	mustRelease(t, h)
}

func inotifies(t *testing.T) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	backendtest.MustWork(t, err)
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

// TestStoppedInTheMiddle: stopped waiters hold up none of the others, whether they are in the
// kernel's queue or not.
func TestStoppedInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	program := lab.Program(t, "cmd/locksmith")
	holder := lab.Hold(t, exec.Command(program, "hold", "local:"+path))
	holder.Held()
	const many = 40
	var all []*lab.Process
	for i := range many {
		all = append(all, lab.Start(t, exec.Command(program, "run", "local:"+path, "--", "true")))
		if i < seats { // one after the other, because two at once may take the same seat
			lab.Eventually(t, "it watches", func() bool { return seatsTaken(t, path) == i+1 })
		}
	}
	lab.Eventually(t, "the others sleep", func() bool { return queuedAt(t, path) == many-seats })
	var stopped []*lab.Process
	for i, p := range all {
		if i%4 == 1 { // one of them may be the waiter that came first
			p.Stop()
			stopped = append(stopped, p)
		}
	}
	holder.Release()
	for i, p := range all {
		if i%4 != 1 {
			p.Exits(0)
		}
	}
	for _, p := range stopped {
		if !lab.Stopped(p.PID()) {
			t.Fatalf("%d is not stopped", p.PID())
		}
	}
	for _, p := range stopped {
		p.Cont()
	}
	for _, p := range stopped {
		p.Exits(0)
	}
	mustBeEmpty(t, filepath.Dir(path))
}

// queuedAt is how many sleep in the queue for a file. The list comes in pages. If somebody takes
// or releases a lock before a page is read, the page may repeat or miss some.
func queuedAt(t *testing.T, path string) (n int) {
	t.Helper()
	var st unix.Stat_t
	backendtest.MustWork(t, unix.Stat(path, &st))
	raw, err := os.ReadFile("/proc/locks")
	if err != nil {
		lab.Lacking(t, "needs /proc/locks")
	}
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", st.Ino)) {
			n++
		}
	}
	return n
}
