package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/flocks"
	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// newFlock returns the address of a lock of flock(2), and its path.
func newFlock(t *testing.T) (address, path string) {
	t.Helper()
	_, path = newLock(t)
	return "flock:" + path, path
}

// lockAsOthers takes the kernel's lock, as a program does that knows nothing of ours. got is
// false if somebody has it.
func lockAsOthers(t *testing.T, path string) (unlock func(), got bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Fatal(err)
		}
		return nil, false
	}
	return func() { f.Close() }, true
}

func mustBeUnlocked(t *testing.T, path string) {
	t.Helper()
	unlock, got := lockAsOthers(t, path)
	if !got {
		t.Fatal("somebody has the kernel's lock")
	}
	unlock()
}

// TestFlock: the lock excludes others in the kernel, and who has it is told, of ours and of others.
func TestFlock(t *testing.T) {
	address, path := newFlock(t)
	l := acquire(t, address)
	if _, got := lockAsOthers(t, path); got {
		t.Fatal("another program has the lock, too")
	}
	err := refused(t, address)
	held, ok := errors.AsType[*client.HeldError](err)
	if !ok || held.Holder.ID != l.ID() {
		t.Errorf("while we hold it: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	unlock, got := lockAsOthers(t, path)
	if !got {
		t.Fatal("it is not free after the release")
	}
	if err := refused(t, address); !errors.Is(err, client.ErrHeld) || !strings.Contains(err.Error(), "held by pid") {
		t.Errorf("while another program holds it: %v", err)
	}
	unlock()
}

// TestFlockReplaced: once the file is replaced, whoever comes locks the new file, so the holder
// has lost the lock.
func TestFlockReplaced(t *testing.T) {
	address, path := newFlock(t)
	l := acquire(t, address, client.Tuning{Refresh: time.Second})
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	mustBeLost(t, l, protocol.Gone)
	if err := l.Release(); !errors.Is(err, client.ErrLost) {
		t.Error(err)
	}
	mustBeUnlocked(t, path+".old")
}

// TestFlockHelperKilled: the kernel frees the lock when its helper is killed, and the program is
// told.
func TestFlockHelperKilled(t *testing.T) {
	address, path := newFlock(t)
	l := acquire(t, address)
	kill(t, holderOf(t, address))
	lab.Eventually(t, "the kernel frees it", func() bool {
		unlock, got := lockAsOthers(t, path)
		if got {
			unlock()
		}
		return got
	})
	mustBeLost(t, l, protocol.Internal)
	if err := l.Release(); !errors.Is(err, client.ErrLost) {
		t.Error(err)
	}
}

// TestFlockOfPool: a helper that serves one lock after another never sleeps in the kernel's
// queue, where nobody could wake it. It watches the file instead, gives up when it is told to,
// and then serves other locks.
func TestFlockOfPool(t *testing.T) {
	p := newPool(t, 1)
	address, path := newFlock(t)
	pid := use(t, p, address)
	for _, granted := range []bool{false, true} {
		unlock, got := lockAsOthers(t, path)
		if !got {
			t.Fatal("it is not free")
		}
		ctx, cancel := context.WithCancel(t.Context())
		outcome := make(chan error, 1)
		go func() {
			l, err := p.Acquire(ctx, address)
			if err == nil {
				err = l.Release()
			}
			outcome <- err
		}()
		lab.Eventually(t, "it watches", func() bool { return watchesFiles(pid) || asleep(t, path) > 0 })
		if n := asleep(t, path); n > 0 {
			t.Errorf("%d sleep in the kernel's queue", n)
		}
		if granted {
			unlock()
		} else {
			cancel()
		}
		if err := <-outcome; granted == (err != nil) || !granted && !errors.Is(err, context.Canceled) {
			t.Errorf("it was let go: %v; the outcome: %v", granted, err)
		}
		if !granted {
			unlock()
		}
		mustBeUnlocked(t, path)
		cancel()
	}
	if again := use(t, p, address); again != pid {
		t.Errorf("helper %d was replaced by %d", pid, again)
	}
}

// asleep returns how many processes sleep in the kernel's queue for its lock of a file.
func asleep(t *testing.T, path string) int {
	t.Helper()
	seen, err := flocks.Glance(path)
	if err != nil {
		t.Fatal(err)
	}
	return len(seen.Waiters)
}

// watchesFiles reports whether the kernel tells a process what happens to files.
func watchesFiles(pid int) bool {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(all, func(name string) bool {
		target, _ := os.Readlink(name)
		return target == "anon_inode:inotify"
	})
}
