package client_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// newPool returns a pool whose helpers are ready, which the test closes.
func newPool(t *testing.T, size int) *client.Pool {
	t.Helper()
	p := &client.Pool{Size: size}
	t.Cleanup(p.Close)
	address, _ := newLock(t)
	use(t, p, address)
	lab.Eventually(t, "its helpers are ready", func() bool { return p.Idle() == size })
	return p
}

// use takes a lock once, and returns the pid of the helper that had it.
func use(t *testing.T, p *client.Pool, address string, options ...client.Option) (pid int) {
	t.Helper()
	l, err := p.Acquire(t.Context(), address, options...)
	if err != nil {
		t.Fatal(err)
	}
	pid = holderOf(t, address)
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	return pid
}

// holderOf is the pid of the helper that has a lock.
func holderOf(t *testing.T, address string) int {
	t.Helper()
	_, err := client.Acquire(t.Context(), address, client.Retries(0)) // unlike TryAcquire without a bound
	held, ok := errors.AsType[*client.HeldError](err)
	if !ok {
		t.Fatal(err)
	}
	return held.Holder.PID
}

// undisturbed is for a test in which each helper lives on. One that a busy machine does not let begin
// within a second is replaced: then the test is made again. That does not happen every time.
func undisturbed(t *testing.T, test func(*testing.T) (helpers map[int]bool)) {
	t.Helper()
	const tries = 4
	for range tries {
		helpers := test(t)
		if len(helpers) == 1 {
			return
		}
		t.Logf("%d helpers", len(helpers))
	}
	t.Errorf("a helper is replaced in each of %d tries", tries)
}

// TestPoolServesAgain: one helper has one lock after another, of each kind on file systems, and
// no lock leaves anything for the next.
func TestPoolServesAgain(t *testing.T) { undisturbed(t, servesAgain) }

func servesAgain(t *testing.T) map[int]bool {
	p := newPool(t, 1)
	dir := t.TempDir()
	pids, ids := map[int]bool{}, map[string]bool{}
	for _, scheme := range []string{"local", "nfs", "mkdir", "link", "flock", "local"} {
		address := scheme + ":" + filepath.Join(dir, scheme)
		meta := client.Meta(map[string]string{scheme: "1"})
		l, err := p.Acquire(t.Context(), address, meta)
		if err != nil {
			t.Fatal(err)
		}
		if ids[l.ID()] {
			t.Errorf("%s has an id that was used", address)
		}
		ids[l.ID()] = true
		pids[holderOf(t, address)] = true
		if scheme == "local" {
			if text, err := os.ReadFile(filepath.Join(dir, scheme)); err != nil || strings.Count(string(text), "meta.") != 1 {
				t.Errorf("%v: %s", err, text)
			}
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	return pids
}

// TestPoolRefusals: a refusal is told as without a pool, and the helper goes on.
func TestPoolRefusals(t *testing.T) { undisturbed(t, refuses) }

func refuses(t *testing.T) map[int]bool {
	p := newPool(t, 1)
	address, _ := newLock(t)
	pid := use(t, p, address)
	l := acquire(t, address)
	if _, err := answered(t, func() (*client.Lock, error) { return p.TryAcquire(t.Context(), address) }); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := untilHeld(t, func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		_, err := p.Acquire(ctx, address)
		return err
	}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrHeld) {
		t.Errorf("until the context ended: %v", err)
	}
	var refused *client.HelperError
	if _, err := p.Acquire(t.Context(), "local:/nonexistent/a/lock"); !errors.As(err, &refused) || refused.Code != protocol.CannotCreate {
		t.Errorf("a place that is not there: %v", err)
	}
	if _, err := p.Acquire(t.Context(), address, client.Shared()); !errors.As(err, &refused) || refused.Code != protocol.Usage {
		t.Errorf("a kind that cannot be shared: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	return map[int]bool{pid: true, use(t, p, address): true}
}

// TestPoolOwnProcess: a process of its own does what a helper that serves several locks cannot
// do.
func TestPoolOwnProcess(t *testing.T) {
	p := newPool(t, 1)
	address, _ := newLock(t)
	pooled := use(t, p, address)
	if use(t, p, address, client.Waiting(func(*client.HeldError) {})) == pooled {
		t.Error("it was given events")
	}
	if use(t, p, address, slices.Repeat([]client.Option{client.Lease(time.Hour)}, 200)...) == pooled {
		t.Error("it was given a request that is too long")
	}
	t.Run("directory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if use(t, p, address) == pooled {
			t.Error("it was used in another directory")
		}
	})
	t.Run("environment", func(t *testing.T) {
		t.Setenv("LOCKSMITH_TEST", "1")
		if use(t, p, address) == pooled {
			t.Error("it was used in another environment")
		}
	})
	var refused *client.HelperError
	if _, err := p.TryAcquire(t.Context(), "ftp://127.0.0.1:1/lock"); !errors.As(err, &refused) || refused.Code == protocol.Internal {
		t.Errorf("a lock on a server: %v", err)
	}
	first, err := p.Acquire(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := newLock(t)
	if use(t, p, other) == holderOf(t, address) {
		t.Error("one helper has two locks")
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
}

// TestPoolClosed: when a pool is closed, locks stay and helpers that wait go. The pool works on
// without helpers.
func TestPoolClosed(t *testing.T) {
	p := newPool(t, 2)
	address, _ := newLock(t)
	l, err := p.Acquire(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.Idle() != 0 || l.Err() != nil {
		t.Errorf("%d wait; the lock: %v", p.Idle(), l.Err())
	}
	pid := holderOf(t, address)
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	lab.Eventually(t, "the helper of the lock ends", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	use(t, p, address)
}

// TestPoolStopped: a helper that was stopped while it waited gets no request: it would take the
// lock when it wakes.
func TestPoolStopped(t *testing.T) {
	p := newPool(t, 1)
	address, _ := newLock(t)
	pid := use(t, p, address)
	lab.Stop(t, pid)
	if got := use(t, p, address); got == pid {
		t.Fatal("the one that is stopped has the lock")
	}
	lab.Eventually(t, "it is killed", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	lab.Eventually(t, "it is replaced", func() bool { use(t, p, address); return p.Idle() == 1 })
}

// TestPoolStarved: a helper that hardly runs goes on serving, or is given up before it has the
// lock. No lock is left to its lease.
func TestPoolStarved(t *testing.T) {
	p := newPool(t, 1)
	address, _ := newLock(t)
	address = "nfs:" + strings.TrimPrefix(address, "local:")
	starving, err := os.FindProcess(p.PIDs()[0]) // this pid will be no other process
	if err != nil {
		t.Fatal(err)
	}
	fed := make(chan struct{})
	feed := sync.OnceFunc(func() { close(fed) })
	var hunger sync.WaitGroup
	defer hunger.Wait()
	defer feed()
	hunger.Go(func() {
		defer func() { _ = starving.Signal(syscall.SIGCONT) }() // the helper may have been given up
		for {
			_ = starving.Signal(syscall.SIGSTOP)
			select {
			case <-fed:
				return
			case <-time.After(245 * time.Millisecond):
			}
			_ = starving.Signal(syscall.SIGCONT)
			time.Sleep(5 * time.Millisecond)
		}
	})
	for range 3 {
		l, err := p.Acquire(t.Context(), address, client.Lease(time.Hour), client.Timeout(timeout), client.KillAfter(timeout))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	feed()
	hunger.Wait()
	mustBeHad(t, []string{address})
}

// TestPoolAllStopped: after one helper that is stopped, a client does not try the others, one
// second each.
func TestPoolAllStopped(t *testing.T) {
	p := newPool(t, 4)
	address, _ := newLock(t)
	for _, pid := range p.PIDs() {
		lab.Stop(t, pid)
	}
	begun := time.Now()
	use(t, p, address)
	idle := p.Idle()
	for _, pid := range p.PIDs() {
		kill(t, pid) // or Close would wait for the helper
	}
	if idle != 3 {
		t.Errorf("%d of 4 stopped helpers wait after %v: more than one was asked", idle, time.Since(begun))
	}
}

// stoppedClient has the test's program take a lock as the client that TestPoolStoppedClient stops.
const stoppedClient = "LOCKSMITH_TEST_STOPPED_CLIENT"

// TestPoolStoppedClient: a helper that has begun in time is not killed because the client itself
// was stopped meanwhile, and so looks late. The helper would die with the lock.
func TestPoolStoppedClient(t *testing.T) {
	if os.Getenv(stoppedClient) != "" {
		beStoppedClient(t)
		return
	}
	dir := t.TempDir()
	text := "#!/bin/sh\ncase \" $* \" in *\" --again \"*) ;; *) echo ERR code=usage text=one at a time only; exit 64;; esac\n" +
		"echo READY proto=1; read -r ask; kill -STOP $PPID; echo >" + dir + "/taken\n" +
		"echo BEGUN n=1; echo OK n=1 proto=1 waited_ms=0 lease_ms=60000\n" +
		"sleep 1.5; kill -CONT $PPID; read -r ask; rm " + dir + "/taken; echo RELEASED n=1 held_ms=0; cat\n"
	script := filepath.Join(dir, "locksmith")
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestPoolStoppedClient$")
	cmd.Env = append(os.Environ(), "LOCKSMITH="+script, stoppedClient+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "taken")); err == nil {
		t.Error("the helper was killed with the lock")
	}
}

func beStoppedClient(t *testing.T) {
	p := &client.Pool{Size: 1}
	defer p.Close()
	if _, err := p.Acquire(t.Context(), "local:/x"); err == nil { // this starts the helpers
		t.Error("there is a lock without a helper")
	}
	lab.Eventually(t, "its helper is ready", func() bool { return p.Idle() == 1 })
	l, err := p.Acquire(t.Context(), "local:/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestPoolKilled: if a helper dies with a lock, that is a loss, and its program need not wait for
// the lease. If a helper dies while it waits, that does not matter.
func TestPoolKilled(t *testing.T) {
	p := newPool(t, 1)
	address, _ := newLock(t)
	address = "nfs:" + strings.TrimPrefix(address, "local:")
	l, err := p.Acquire(t.Context(), address, client.Lease(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	kill(t, holderOf(t, address))
	mustBeLost(t, l, protocol.Internal)
	if err := l.Release(); !errors.Is(err, client.ErrLost) {
		t.Error(err)
	}
	mustBeHad(t, []string{address})
	lab.Eventually(t, "it is replaced", func() bool { use(t, p, address); return p.Idle() == 1 })
	kill(t, use(t, p, address))
	use(t, p, address)
}

// TestPoolKilledAtRelease: a helper that does not release in time is killed, and told of as
// without a pool. Its program has the lock again at once.
func TestPoolKilledAtRelease(t *testing.T) {
	p := newPool(t, 1)
	address, _ := newLock(t)
	address = "nfs:" + strings.TrimPrefix(address, "local:")
	l, err := p.Acquire(t.Context(), address, client.Lease(time.Hour), client.KillAfter(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	lab.Stop(t, holderOf(t, address))
	var lost *client.LostError
	if err := l.Release(); !errors.As(err, &lost) || lost.Code != protocol.Unreleased {
		t.Errorf("release: %v", err)
	}
	mustBeHad(t, []string{address})
}

// TestPoolLoss: after a loss a helper serves nobody else.
func TestPoolLoss(t *testing.T) {
	p := newPool(t, 1)
	address, path := newLock(t)
	l, err := p.Acquire(t.Context(), address, client.Tuning{Refresh: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	pid := holderOf(t, address)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustBeLost(t, l, protocol.Gone)
	if err := l.Release(); !errors.Is(err, client.ErrLost) {
		t.Error(err)
	}
	if use(t, p, address) == pid {
		t.Error("it is used again")
	}
}

// TestPoolOfOthers: a helper that can serve only one lock serves one lock.
func TestPoolOfOthers(t *testing.T) {
	script := filepath.Join(t.TempDir(), "locksmith")
	text := "#!/bin/sh\ncase \" $* \" in *\" --again \"*) echo ERR code=usage text=unknown flag --again; exit 64;; esac\n" +
		"echo OK proto=1 waited_ms=0 lease_ms=60000; cat; echo RELEASED held_ms=0\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSMITH", script)
	p := &client.Pool{Size: 2}
	defer p.Close()
	for range 3 {
		l, err := p.Acquire(t.Context(), "local:/x")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
}

// TestPoolReleasedTooSoon: a helper that says that it let go before the program did is believed, though
// the program has called Release before the helper's line came.
func TestPoolReleasedTooSoon(t *testing.T) {
	script := filepath.Join(t.TempDir(), "locksmith")
	text := "#!/bin/sh\ncase \" $* \" in *\" --again \"*) ;; *) echo OK proto=1 waited_ms=0 lease_ms=60000; cat; echo RELEASED held_ms=0; exit;; esac\n" +
		"echo READY proto=1\nwhile read -r word n rest; do case $word in\n" +
		"ACQUIRE) echo BEGUN $n; echo OK $n proto=1 waited_ms=0 lease_ms=60000;;\n" +
		"RELEASE) echo RELEASED $n held_ms=0 early=1;;\nesac; done\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSMITH", script)
	p := &client.Pool{Size: 1}
	defer p.Close()
	l, err := p.Acquire(t.Context(), "local:/x") // by a process of its own
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "its helper is ready", func() bool { return p.Idle() == 1 })
	if l, err = p.Acquire(t.Context(), "local:/x"); err != nil {
		t.Fatal(err)
	}
	loss, isLost := errors.AsType[*client.LostError](l.Release())
	if !isLost || loss.Code != protocol.Gone {
		t.Errorf("Release returns %v, want a loss", l.Err())
	}
}

var long = flag.Bool("long", false, "take as many locks as the promise says")

// TestPoolLeavesNothing: after many locks, this process and its helpers have no more descriptors,
// goroutines, processes or zombies than before. With -long helpers are replaced meanwhile.
func TestPoolLeavesNothing(t *testing.T) {
	p := newPool(t, 2)
	locks := 2000
	switch {
	case *long:
		locks = 10000
	case testing.Short():
		locks = 400
	}
	dir := t.TempDir()
	take := func(g, i int) {
		scheme := []string{"local:", "nfs:", "mkdir:", "link:"}[i%4]
		if err := p.Do(t.Context(), scheme+filepath.Join(dir, scheme[:2]+string(rune('a'+g))), func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	round := func(n int) {
		var all sync.WaitGroup
		for g := range 2 {
			all.Go(func() {
				for i := range n / 2 {
					take(g, i)
				}
			})
		}
		all.Wait()
		lab.Eventually(t, "both helpers wait", func() bool { take(0, 0); return p.Idle() == 2 })
	}
	round(100)
	before, first := countResources(t, p), p.PIDs()
	round(locks)
	var after resources
	lab.Eventually(t, "there is no more than before", func() bool {
		after = countResources(t, p)
		return after.ours <= before.ours && after.goroutines <= before.goroutines && after.processes <= before.processes &&
			after.zombies == 0 && after.theirs <= before.theirs && after.threads <= 2*before.threads // as many as calls hung at a time
	}, func() string { return fmt.Sprintf("%+v, before %+v", after, before) })
	if *long && slices.Equal(slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(p.PIDs()))) {
		t.Errorf("helpers %v were not replaced after %d locks", first, locks)
	}
}

// resources counts what a leak would add to.
type resources struct {
	ours, goroutines   int // descriptors and goroutines of this process
	processes, zombies int // that it has started
	theirs, threads    int // descriptors and threads, at most, of a helper that waits
}

func countResources(t *testing.T, p *client.Pool) (r resources) {
	t.Helper()
	r.goroutines = runtime.NumGoroutine()
	r.ours = entries(t, os.Getpid(), "fd")
	for _, pid := range children(t) {
		r.processes++
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(text), ") Z ") {
			r.zombies++
		}
	}
	for _, pid := range p.PIDs() {
		r.theirs = max(r.theirs, entries(t, pid, "fd"))
		r.threads = max(r.threads, entries(t, pid, "task"))
	}
	return r
}

// entries counts the entries of a directory of a process in /proc.
func entries(t *testing.T, pid int, directory string) int {
	t.Helper()
	all, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), directory))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestFrozenPool: the same with a pool of which every helper freezes, before it is ready or while it
// waits. Each is replaced.
func TestFrozenPool(t *testing.T) {
	address, _ := newLock(t)
	p := newPool(t, 1)
	idle := p.PIDs()[0]
	lab.Stop(t, idle)
	held := acquire(t, address)
	comesBack(t, func() {
		if _, err := p.Acquire(t.Context(), address, client.Retries(0)); !errors.Is(err, client.ErrHeld) { // without a bound
			t.Errorf("a try with a helper that is stopped: %v", err)
		}
	})
	if err := held.Release(); err != nil {
		t.Error(err)
	}
	lab.Eventually(t, "the helper is killed", func() bool { return syscall.Kill(idle, 0) == syscall.ESRCH })
	lab.Eventually(t, "the helper is replaced", func() bool { use(t, p, address); return p.Idle() == 1 })
	lab.Stop(t, p.PIDs()[0])
	comesBack(t, p.Close)

	script, pids := freezes(t)
	t.Setenv("LOCKSMITH", script)
	fresh := &client.Pool{Size: 1}
	comesBack(t, func() {
		_, err := fresh.TryAcquire(t.Context(), address, client.KillAfter(100*time.Millisecond))
		if _, ok := errors.AsType[*client.HelperError](err); !ok {
			t.Errorf("a try with helpers that are stopped: %v", err)
		}
	})
	for _, pid := range reads(t, pids) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // one waits for 15 s to be ready
	}
}
