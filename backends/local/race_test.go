package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// Each test here plays one order of steps of two processes. Kernel locks belong to open files,
// not to processes, so one process can play both.

func recordText(t *testing.T) string {
	t.Helper()
	text, err := lockfile.Format(ownRecord())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func mustCreate(t *testing.T, path string) *lockfile.File {
	t.Helper()
	f, err := lockfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustOpen(t *testing.T, path string) *lockfile.File {
	t.Helper()
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustLock(t *testing.T, f *lockfile.File) {
	t.Helper()
	if free, err := f.TryLock(); err != nil || !free {
		t.Fatalf("the kernel lock of the file, which must be free, is to be had: %v, with the error %v", free, err)
	}
}

func mustBeOthers(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, lockfile.ErrReplaced) {
		t.Fatalf("got %v, want lockfile.ErrReplaced", err)
	}
}

func TestBreakerHasKernelLockWhileCreatorStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. The creator makes the file.
	f := mustCreate(t, path)
	// 2. A breaker opens it and takes its kernel lock.
	breaker := mustOpen(t, path)
	mustLock(t, breaker)
	// 3. The creator cannot take it, and must not believe it holds the lock.
	mustBeOthers(t, new(Lock).finish(f, recordText(t)))
	// 4. The breaker stops there. What is left is an unfinished file.
	breaker.Close()
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	mustLookHeld(t, a)
	// 5. It must not be stuck for good.
	c.advance(graceAndDrift)
	mustRelease(t, mustHold(t, a))
	mustBeEmpty(t, filepath.Dir(path))
}

func TestBreakerLooksWhileCreatorStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. The creator makes the file.
	f := mustCreate(t, path)
	// 2. Somebody looks, and lets the kernel lock go again.
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	mustLookHeld(t, a)
	// 3. The creator finishes.
	if err := new(Lock).finish(f, recordText(t)); err != nil {
		t.Fatal(err)
	}
	// 4. The grace for unfinished files must not count any more.
	c.advance(longTime)
	mustBeHeld(t, a)
	if err := new(Lock).remove(f); err != nil {
		t.Fatal(err)
	}
}

func TestBreakerRemovesWhatCreatorHasNotVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. The creator makes the file and is stopped.
	f := mustCreate(t, path)
	// 2. A breaker watches it for the whole grace,
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	mustLookHeld(t, a)
	c.advance(graceAndDrift)
	// 3. removes it, and takes the lock itself.
	h := mustHold(t, a)
	// 4. The creator goes on: it must not believe it holds the lock,
	mustBeOthers(t, new(Lock).finish(f, recordText(t)))
	// 5. nor have touched the file that is there now.
	mustStillHold(t, h)
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}

func TestFileRemovedBeforeCreatorVerifies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. The creator makes the file.
	f := mustCreate(t, path)
	// 2. Somebody who knows no kernel locks removes it.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	// 3. The creator verifies, and leaves nothing behind.
	mustBeOthers(t, new(Lock).finish(f, recordText(t)))
	mustBeEmpty(t, filepath.Dir(path))
}

func TestCreatorFinishesBeforeBreakerLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	// 1. The creator makes the file.
	f := mustCreate(t, path)
	// 2. A breaker opens it.
	breaker := mustOpen(t, path)
	defer breaker.Close()
	// 3. The creator finishes.
	if err := new(Lock).finish(f, recordText(t)); err != nil {
		t.Fatal(err)
	}
	// 4. The breaker's look finds it locked, so it is held.
	r, _ := fakeRequest()
	a := attemptAt(t, path, r)
	if err := a.look(breaker); err != nil || !a.seen.locked || a.seen.due == 0 {
		t.Errorf("a look returns the error %v and has seen %+v; want that the file is locked, and may not be broken now", err, a.seen)
	}
	if err := new(Lock).remove(f); err != nil {
		t.Fatal(err)
	}
}

func TestReleaseOfReplacedFile(t *testing.T) {
	for name, content := range map[string]string{"another tool's": "1\n", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			// 1. The holder takes the lock.
			h := mustHold(t, attemptAt(t, path, backendtest.Request()))
			// 2. Somebody puts another file in its place, in one step.
			other := path + ".other"
			if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
			// 3. The holder lets go.
			if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
				t.Errorf("Release of a lock whose file was replaced returns %v, want ErrGone", err)
			}
			// 4. The other file is as it was.
			if got, err := os.ReadFile(path); err != nil || string(got) != content {
				t.Errorf("the other file: %q, %v", got, err)
			}
		})
	}
}

// deadLock is the file of a holder that is proven dead.
func deadLock(t *testing.T) string {
	t.Helper()
	record := ownRecord()
	record.Helper.Start--
	return putRecord(t, record)
}

func TestSecondBreakerComesTooLate(t *testing.T) {
	path := deadLock(t)
	// 1. Breaker A opens the dead holder's file.
	a := mustOpen(t, path)
	// 2. Breaker B breaks it and takes the lock.
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 3. A gets the kernel lock of the file that is gone,
	mustLock(t, a)
	// 4. and must not remove B's.
	mustBeOthers(t, new(Lock).remove(a))
	mustStillHold(t, h)
	mustBeHeld(t, attemptAt(t, path, backendtest.Request()))
	mustRelease(t, h)
}

func TestSecondBreakerComesTooEarly(t *testing.T) {
	path := deadLock(t)
	// 1. Breaker A opens the dead holder's file and takes its kernel lock.
	a := mustOpen(t, path)
	mustLock(t, a)
	// 2. Breaker B cannot, and waits.
	b := attemptAt(t, path, backendtest.Request())
	mustBeHeld(t, b)
	// 3. A removes the file.
	if err := new(Lock).remove(a); err != nil {
		t.Fatal(err)
	}
	// 4. B's wait ends, and B takes the lock.
	if err := unblocked(t, func() error { return b.Wait(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, mustHold(t, b))
	mustBeEmpty(t, filepath.Dir(path))
}

func TestHolderTakesOverBetweenLookAndWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	// 1. A waiter sees the first holder.
	first := mustHold(t, attemptAt(t, path, backendtest.Request()))
	a := attemptAt(t, path, backendtest.Request())
	mustBeHeld(t, a)
	// 2. A second one takes over. Its file may well have the same inode number.
	mustRelease(t, first)
	second := mustHold(t, attemptAt(t, path, backendtest.Request()))
	// 3. Only now the waiter waits: it must look again, not sleep on news of old,
	// because it would watch the wrong process.
	if err := unblocked(t, func() error { return a.Wait(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	if h := mustBeHeld(t, a); h.Record == nil || h.Record.ID != second.ID() {
		t.Errorf("the holder is told as %+v, want the record of %s", h, second.ID())
	}
	mustRelease(t, second)
}

func TestHolderDiesBetweenLookAndWait(t *testing.T) {
	for name, put := range map[string]func(*testing.T, process.Process) string{
		"another tool's process": func(t *testing.T, p process.Process) string {
			return putFile(t, strconv.Itoa(p.PID)+"\n", 0)
		},
		"the parent of a dead helper": func(t *testing.T, p process.Process) string {
			record := ownRecord()
			record.Helper.Start--
			record.Parent = p
			return putRecord(t, record)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sleep, p := startSleep(t)
			path := put(t, p)
			// 1. A waiter sees that the holder lives.
			r := backendtest.Request()
			r.Strict = true
			a := attemptAt(t, path, r)
			mustBeHeld(t, a)
			// 2. The holder dies.
			sleep.Kill()
			// 3. Only now the waiter waits: nobody will wake it any more.
			if err := unblocked(t, func() error { return a.Wait(t.Context()) }); err != nil {
				t.Fatal(err)
			}
			mustRelease(t, mustHold(t, a))
		})
	}
}

func TestHelperDiesBetweenLookAndWait(t *testing.T) {
	t.Parallel()
	sleep, p := startSleep(t)
	record := ownRecord()
	record.Helper = p
	path := putRecord(t, record)
	keeper := mustOpen(t, path) // plays the helper's descriptor
	mustLock(t, keeper)
	// 1. A waiter sees that the helper lives.
	a := attemptAt(t, path, backendtest.Request())
	mustBeHeld(t, a)
	// 2. The helper dies.
	sleep.Kill()
	syscall.ForkLock.RLock() // no other test's child, about to exec, has the descriptor as well
	keeper.Close()
	syscall.ForkLock.RUnlock()
	// 3. Only now the waiter waits.
	if err := unblocked(t, func() error { return a.Wait(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	// Not by the first try: a child closes what it does not inherit one after the other,
	// and may have told that it runs before it has closed ours.
	mustRelease(t, mustAcquire(t, a))
}

func startSleep(t *testing.T) (*lab.Process, process.Process) {
	t.Helper()
	sleep := lab.Start(t, exec.Command("sleep", "300"))
	p, err := process.Find(sleep.PID())
	if err != nil {
		t.Fatal(err)
	}
	return sleep, p
}

// TestLateTry: whoever has hardly any time, and comes to its first try late, gets a lock
// that is free.
func TestLateTry(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h, err := attemptAt(t, t.TempDir()+"/lock", backendtest.Request()).Try(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mustRelease(t, h)
}
