//go:build unix

package link

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
	"locksmith/test/lab"
)

// TestFile: what others find in the file while the lock is held.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	raw, err := os.ReadFile(path)
	mustWork(t, err)
	if first, _, _ := strings.Cut(string(raw), "\n"); first != fmt.Sprint(os.Getpid()) {
		t.Errorf("the first line is %q", first)
	}
	st, err := os.Lstat(path)
	mustWork(t, err)
	var links unix.Stat_t
	mustWork(t, unix.Lstat(path, &links))
	if st.Mode() != 0o644 || links.Nlink != 1 || len(listed(t, dir)) != 1 {
		t.Errorf("the lock's file has mode %v and %d links, and the directory has %q; want 0644, 1 and the lock alone", st.Mode(), links.Nlink, listed(t, dir))
	}
	mustRelease(t, h)
	mustBeGone(t, h.Release(t.Context()))
	mustBeEmpty(t, dir)
}

// TestHeartbeat: a heartbeat sets the file's time.
func TestHeartbeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	old := time.Now().Add(-time.Hour)
	mustWork(t, os.Chtimes(path, old, old), h.Heartbeat(t.Context()))
	st, err := os.Stat(path)
	mustWork(t, err)
	if age := time.Since(st.ModTime()); age > time.Minute {
		t.Errorf("after a heartbeat the file is %v old", age)
	}
	mustRelease(t, h)
}

// TestLoss: a holder notices that its lock is lost, whatever is in its place, and leaves that
// alone.
func TestLoss(t *testing.T) {
	for _, c := range []struct {
		name string
		put  func(path string) error
	}{
		{"nothing", func(string) error { return nil }},
		{"file", func(p string) error { return os.WriteFile(p, []byte("17\n"), 0o644) }},
		{"directory", func(p string) error { return os.Mkdir(p, 0o755) }},
		{"symbolic link", func(p string) error { return os.Symlink("nowhere", p) }},
		{"FIFO", func(p string) error { return unix.Mkfifo(p, 0o644) }},
	} {
		for _, beats := range []bool{true, false} {
			dir := t.TempDir()
			path := filepath.Join(dir, "lock")
			h := mustHold(t, attemptAt(t, path, backendtest.Request()))
			mustWork(t, os.Remove(path), c.put(path))
			before := listed(t, dir)
			if beats {
				mustBeGone(t, h.Heartbeat(t.Context()))
			}
			mustBeGone(t, h.Release(t.Context()))
			if after := listed(t, dir); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%s: the holder that lost its lock changed what is there: %q, now %q", c.name, before, after)
			}
		}
	}
}

// TestMovedAside: some tools rename a lock that they take for stale. Its holder notices.
func TestMovedAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	mustWork(t, os.Rename(path, path+".stale"))
	mustBeGone(t, h.Heartbeat(t.Context()))
	mustRelease(t, mustHold(t, attemptAt(t, path, backendtest.Request())))
}

// TestCopied: a copy with our content in our lock's place is not our lock.
func TestCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	raw, err := os.ReadFile(path)
	mustWork(t, err, os.Rename(path, path+".old"), os.WriteFile(path, raw, 0o644))
	mustBeGone(t, h.Release(t.Context()))
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

// TestForgottenHandle: the server no longer knows our open file, but the file's name is still
// there.
func TestForgottenHandle(t *testing.T) {
	s := newServer()
	h := mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
	stale := true
	s.fault = func(c faulty.Call) error {
		if stale && c.Op == "touch" {
			stale = false
			return unix.ESTALE
		}
		return c.Do()
	}
	mustWork(t, h.Heartbeat(t.Context()))
	stale = true
	delete(s.names, "L")
	err := h.Heartbeat(t.Context())
	mustBeGone(t, err)
	mustFail(t, err, protocol.Gone, "somebody broke the lock")
}

// TestWakes: a waiter notices a release at once, also one by another tool.
func TestWakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path)
	l.Polls.Poll.Min, l.Polls.Poll.Max = time.Hour, time.Hour
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	for _, release := range []func(){func() { mustRelease(t, h) }, func() { mustWork(t, os.Remove(path)) }} {
		a := attemptOn(t, l, backendtest.Request())
		mustBeHeld(t, a)
		done := make(chan error)
		go func() { done <- a.Wait(t.Context()) }()
		release()
		select {
		case err := <-done:
			mustWork(t, err)
		case <-time.After(lab.Patience):
			t.Fatal("the waiter sleeps on after the release")
		}
		h := mustHold(t, a)
		mustRelease(t, h)
		mustWork(t, os.WriteFile(path, []byte("1\n"), 0o644)) // for the next
	}
}

// TestWaitersDoNotWakeEachOther: what a waiter makes and removes does not wake other waiters.
func TestWaitersDoNotWakeEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path)
	const pause = 300 * time.Millisecond
	l.Polls.Poll.Min, l.Polls.Poll.Max = pause, pause
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	a, b := attemptOn(t, l, backendtest.Request()), attemptOn(t, l, backendtest.Request())
	mustBeHeld(t, a)
	done := make(chan error)
	begun := time.Now()
	go func() { done <- a.Wait(t.Context()) }()
	for range 10 {
		mustBeHeld(t, b)
		mustWork(t, h.Heartbeat(t.Context()))
	}
	mustWork(t, <-done)
	if d := time.Since(begun); d < pause*9/10 {
		t.Errorf("another waiter woke this one after %v", d)
	}
	for _, a := range []backend.Attempt{a, b} {
		mustWithdraw(t, a)
	}
	mustRelease(t, h)
}
