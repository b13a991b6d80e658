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
	"locksmith/backends/backendtest"
	"locksmith/backends/lockfile"
	"locksmith/test/lab"
)

// As in race_test.go, one process plays several. The clocks of its waiters stand still, so
// that nothing ends a sleep but the kernel, unless a test advances one.

// A sleeper waits for a lock in the background, as one of many.
type sleeper struct {
	*attempt
	clock *fakeClock
	woken chan error
}

// lineUp lets n waiters come one after the other, to a lock that enough others watch. Each
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

// fill takes the seats that are free of those who watch a lock. At the end of the test
// nobody may be left in a queue.
func fill(t *testing.T, path string) {
	t.Helper()
	t.Cleanup(func() { lab.Eventually(t, "nobody sleeps", func() bool { return queued(t) == 0 }) })
	for range seats - seatsTaken(t, path) {
		f := mustOpen(t, path)
		t.Cleanup(func() { _ = f.Close() })
		if seated, err := f.Seat(seats); !seated || err != nil {
			t.Fatal(seated, err)
		}
	}
}

// come is a waiter's first try.
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

// mustQueue waits until it sleeps in the kernel's queue.
func (s *sleeper) mustQueue(t *testing.T) {
	t.Helper()
	before := queued(t)
	s.wait(t)
	lab.Eventually(t, "one more in the queue", func() bool { return queued(t) == before+1 })
}

// mustNap lets its clock go on until it wakes by itself.
func (s *sleeper) mustNap(t *testing.T) {
	t.Helper()
	lab.Eventually(t, "it wakes", func() bool {
		s.clock.advance(longNap) // again: it may be in the queue, and not have set its alarm yet
		return len(s.woken) > 0
	})
	s.mustWake(t)
}

// queued is how many threads of this process sleep in the kernel's queues: in flock(2), which
// sleeps nowhere else.
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
		t.Fatal(err)
	}
}

// mustTake wakes and takes the lock.
func (s *sleeper) mustTake(t *testing.T) backend.Hold {
	t.Helper()
	s.mustWake(t)
	return mustHold(t, s)
}

// mustSleepOn makes sure that these were not woken. The kernel says so: it wakes nobody later
// than the release that wakes him. Whoever was woken does not sleep again by itself.
func mustSleepOn(t *testing.T, all ...*sleeper) {
	t.Helper()
	for i, s := range all {
		select {
		case err := <-s.woken:
			t.Fatalf("sleeper %d is awake: %v", i, err)
		default:
		}
	}
	lab.Eventually(t, "just these sleep in the queue", func() bool { return queued(t) == len(all) })
}

// TestReleaseWakesOne: the others sleep on while the lock goes from hand to hand.
func TestReleaseWakesOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. A has the lock, and others wait for it.
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	all := lineUp(t, path, 5)
	for len(all) > 0 {
		// 2. The holder releases: the first takes the lock, and with its new file
		// keeps the kernel lock of the old one. 3. So the others sleep on.
		mustRelease(t, h)
		h = all[0].mustTake(t)
		all = all[1:]
		mustSleepOn(t, all...)
	}
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}

// TestBatonOfOneWhoLost: somebody was quicker than the one that the kernel woke.
func TestBatonOfOneWhoLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a := mustHold(t, attemptAt(t, path, backendtest.Request()))
	all := lineUp(t, path, 3)
	// 1. A releases, which wakes the first.
	mustRelease(t, a)
	all[0].mustWake(t)
	// 2. N, which has not waited, takes the lock.
	n := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 3. The first finds that out, and sleeps in the queue for N's file. Those behind it
	// sleep on: it has A's old file.
	mustBeHeld(t, all[0])
	fill(t, path)
	all[0].mustQueue(t)
	mustSleepOn(t, all...)
	// 4. N releases, and it wakes the first and nobody else.
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

// TestHolderOfManyDies: the first takes the lock of the dead, and the others theirs in turn.
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

// TestStoppedWithBaton: whom the kernel woke is stopped before it can take the lock.
func TestStoppedWithBaton(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 1. S is the first in the queue, and will do nothing when its turn comes.
	stopped := mustOpen(t, path)
	locked := make(chan error, 1)
	go func() { locked <- stopped.Lock() }()
	lab.Eventually(t, "S in the queue", func() bool { return queued(t) == 1 })
	// 2. Others come behind it, and W before it finds a seat.
	w := come(t, path)
	w.wait(t)
	lab.Eventually(t, "it watches", func() bool { return seatsTaken(t, path) == 1 })
	others := lineUp(t, path, 3)
	// 3. A releases: S has the kernel lock of A's file.
	mustRelease(t, a)
	backendtest.MustWork(t, unblocked(t, func() error { return <-locked }))
	// 4. W saw it, and takes the lock at once.
	h := w.mustTake(t)
	// 5. Nobody but S could wake the others. They look by themselves, and while they
	// stay behind S for the kernel, find a seat and take the lock.
	for _, s := range others {
		s.mustNap(t)
		mustBeHeld(t, s)
		s.wait(t)
		lab.Eventually(t, "it watches", func() bool { return seatsTaken(t, path) > 0 })
		mustRelease(t, h)
		h = s.mustTake(t)
	}
	mustRelease(t, h)
	// 6. S goes on: its kernel lock is worth nothing.
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

// TestNapEnds: whoever sleeps in the queue looks now and then by itself, and takes a lock that
// nobody told it is free.
func TestNapEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	s := lineUp(t, path, 1)[0]
	// The holder, which is stopped, keeps the kernel lock of a file that somebody removed.
	backendtest.MustWork(t, os.Remove(path))
	mustSleepOn(t, s)
	s.mustNap(t)
	taken := mustHold(t, s)
	backendtest.MustBeLost(t, h)
	mustStillHold(t, taken)
	mustRelease(t, taken)
}

// TestLeavingTheQueue: a wait that is cancelled ends at once, though nothing can wake its
// thread. Its turn goes to the next.
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

// TestOnePlaceInTheQueue: whoever comes again and again to the same lock, as a set of locks
// does, sleeps once, and in its old place.
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

// TestTwoTurns: a turn that comes while its waiter looks at another file is not forgotten when
// the next one comes.
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
	// 3. W wakes by itself, while its place in the queue is still that for A's file, and
	// sees N's.
	w.mustNap(t)
	mustBeHeld(t, w)
	fill(t, path)
	// 4. K lets go, so that W gets A's file, and only then sleeps again.
	_ = k.Close()
	lab.Eventually(t, "W's turn", func() bool { return len(w.bell) == 1 })
	w.wait(t)
	w.mustWake(t)
	// 5. N releases, and gives W its file, too, if W sleeps for that as well.
	mustRelease(t, n)
	lab.Eventually(t, "nobody sleeps", func() bool { return queued(t) == 0 })
	// 6. W takes the lock, and with its release lets go of all that it was given.
	mustRelease(t, mustHold(t, w))
	if free, err := probe.TryLock(); !free || err != nil {
		t.Errorf("the kernel lock of A's file is still kept: %v, %v", free, err)
	}
	mustBeEmpty(t, filepath.Dir(path))
}

// TestLostLockPassesBatons: a holder that has lost the lock lets the others come.
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

// TestMostBatons: whoever has too many lets the oldest go.
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
		t.Error("they are kept")
	}
}

// TestQueueOfKept: where the file stays, the kernel's queue is that of flock(1), too.
func TestQueueOfKept(t *testing.T) {
	path := putFile(t, "", 0)
	flock := func() *lockfile.File {
		f, err := lockfile.OpenWritable(path)
		backendtest.MustWork(t, err)
		return f
	}
	// 1. flock(1) has it, we wait, and so does another flock(1).
	first, second := flock(), flock()
	mustLock(t, first)
	r, _ := fakeRequest()
	s := &sleeper{keptAttempt(t, path, r), nil, make(chan error, 1)}
	mustBeHeld(t, s)
	s.mustQueue(t)
	locked := make(chan error, 1)
	go func() { locked <- second.Lock() }()
	lab.Eventually(t, "flock(1) in the queue", func() bool { return queued(t) == 2 })
	// 2. The first lets go. We are next, and no look at a clock was needed.
	_ = first.Close()
	h := s.mustTake(t)
	lab.Eventually(t, "just flock(1) sleeps", func() bool { return queued(t) == 1 })
	// 3. Then it is flock(1)'s turn.
	mustRelease(t, h)
	backendtest.MustWork(t, unblocked(t, func() error { return <-locked }))
	_ = second.Close()
}

// TestQueueNeedsNoInotify: of the waiters of one lock only those that watch it use up what a
// user may have.
func TestQueueNeedsNoInotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	before := inotifies(t)
	all := lineUp(t, path, 10)
	if n := inotifies(t); n != before {
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

// TestStoppedInTheMiddle: waiters that are stopped keep none of the others waiting, in the
// kernel's queue or out of it.
func TestStoppedInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	program := lab.Program(t, "cmd/locksmith")
	holder := lab.Hold(t, exec.Command(program, "hold", "local:"+path))
	holder.Held()
	const many = 40
	var all []*lab.Process
	for i := range many {
		all = append(all, lab.Start(t, exec.Command(program, "run", "local:"+path, "--", "true")))
		if i < seats { // one after the other, as two at once may take the same seat
			lab.Eventually(t, "it watches", func() bool { return seatsTaken(t, path) == i+1 })
		}
	}
	lab.Eventually(t, "the others sleep", func() bool { return queuedAt(t, path) == many-seats })
	var stopped []*lab.Process
	for i, p := range all {
		if i%4 == 1 { // one of them may be who came first
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

// queuedAt is how many sleep in the queue for a file. A page of that list that is read after
// somebody took a lock or released one may repeat or miss some.
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
