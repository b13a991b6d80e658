package flock

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/detached"
	"locksmith/backends/finder"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func attemptAt(t *testing.T, path string, r backend.Request) *attempt {
	t.Helper()
	a, err := openLock(t, path).Attempt(r)
	backendtest.MustWork(t, err)
	return a.(*attempt)
}

func mustHold(t *testing.T, path string) *hold {
	t.Helper()
	return backendtest.MustHold(t, attemptAt(t, path, backendtest.Request())).(*hold)
}

// report is what Read sees of a lock.
func report(t *testing.T, path string) backend.Report {
	t.Helper()
	r, err := openLock(t, path).Read(t.Context())
	backendtest.MustWork(t, err)
	return r
}

// script starts a script that locks the file as scripts do, and hands the descriptor on.
func script(t *testing.T, path, text string) *lab.Process {
	t.Helper()
	p := lab.Start(t, exec.Command("sh", "-c", text, path))
	p.Expect("ready")
	return p
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	backendtest.MustWork(t, err)
	return string(text)
}

// TestRecord: the record is written into a file that is empty or holds a record, and nothing
// else is touched. It stays. A heartbeat writes it again after a script has emptied the file.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, path)
	if text := read(t, path); text != h.text || recordIn(text) == nil {
		t.Errorf("the file holds %q, want %q", text, h.text)
	}
	backendtest.MustWork(t, os.Truncate(path, 0))
	backendtest.MustStillHold(t, h)
	backendtest.MustRelease(t, h)
	if text := read(t, path); text != h.text {
		t.Errorf("after the release it holds %q, want %q", text, h.text)
	}
	long := backendtest.Request()
	long.Owner.Meta = []protocol.Field{{Key: "job", Value: "nightly"}}
	next := backendtest.MustHold(t, attemptAt(t, path, long)).(*hold)
	backendtest.MustRelease(t, next)
	last := mustHold(t, path)
	backendtest.MustRelease(t, last)
	if text := read(t, path); text != last.text {
		t.Errorf("after a longer one it holds %q, want %q", text, last.text)
	}
	for _, own := range []string{"#!/bin/sh\n", h.text + h.text, strings.Replace(h.text, "kind=flock", "kind=other", 1), strings.Repeat("x", protocol.MaxLine+1)} {
		backendtest.MustWork(t, os.WriteFile(path, []byte(own), 0o644))
		h := mustHold(t, path)
		backendtest.MustStillHold(t, h)
		if text := read(t, path); text != own {
			t.Errorf("%.40q became %.40q", own, text)
		}
		backendtest.MustWork(t, os.Truncate(path, 0)) // as who writes it anew begins
		backendtest.MustStillHold(t, h)
		if text := read(t, path); text != "" {
			t.Errorf("in the place of %.40q there is %.40q", own, text)
		}
		backendtest.MustRelease(t, h)
	}
}

// TestNoRecord: a holder that shares leaves no record, and nobody writes through a symbolic
// link. A file that cannot be written is locked all the same.
func TestNoRecord(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "lock"), filepath.Join(dir, "link")
	backendtest.MustWork(t, os.Symlink(path, link))
	shared := backendtest.MustHold(t, attemptAt(t, path, backendtest.SharedRequest()))
	backendtest.MustRelease(t, shared)
	by := mustHold(t, link)
	backendtest.MustBeHeld(t, attemptAt(t, path, backendtest.Request()))
	backendtest.MustRelease(t, by)
	if text := read(t, path); text != "" {
		t.Errorf("a holder that shares wrote into the file: %q", text)
	}
	backendtest.MustRelease(t, mustHold(t, dir)) // a directory
	backendtest.MustRelease(t, mustHold(t, "/dev/null"))
	_, err := attemptAt(t, filepath.Join(dir, "none", "lock"), backendtest.Request()).Try(t.Context())
	backendtest.MustFail(t, err, protocol.CannotCreate, "create the directory first")
	backendtest.MustWork(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	_, err = attemptAt(t, filepath.Join(dir, "fifo"), backendtest.Request()).Try(t.Context())
	backendtest.MustFail(t, err, protocol.CannotCreate, "a FIFO")
}

// TestLooksTakeNothing: while others look again and again, flock -n is never refused.
func TestLooksTakeNothing(t *testing.T) {
	lab.NeedProgram(t, "flock")
	path := filepath.Join(t.TempDir(), "lock")
	backendtest.MustRelease(t, mustHold(t, path))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l := openLock(t, path)
		for ctx.Err() == nil {
			_, _ = l.Read(ctx)
			_ = backendtest.BreakID(ctx, l, owner.NewID())
			_ = finder.List(ctx, l, "", backend.Listing{Tell: func(backend.Listed) {}})
			_ = l.Examine(ctx, backend.Examination{}, func(backend.Check) {})
		}
	}()
	for range 50 {
		if err := exec.Command("flock", "-n", path, "true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	<-done
}

// TestInheritors: a process that inherited the descriptor keeps the lock when its holder lets
// go. The holder's closing frees nothing.
func TestInheritors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	r := backendtest.Request()
	h := backendtest.MustHold(t, attemptAt(t, path, r)).(*hold)
	heir, end, err := inherit(h.file)
	backendtest.MustWork(t, err)
	defer end()
	backendtest.MustRelease(t, h)
	r.Timeout = 0
	held := backendtest.MustBeHeld(t, attemptAt(t, path, r))
	if !strings.Contains(held.Error(), "(sh)") {
		t.Errorf("the error of Try is %v, want the heir as the holder", held)
	}
	if left := report(t, path).Holders; len(left) != 1 || len(left[0].Kept) != 1 || left[0].Kept[0] != heir.Pid {
		t.Errorf("Read sees the holders %+v, want pid %d", left, heir.Pid)
	}
	_ = heir.Kill()
	end()
	backendtest.MustRelease(t, mustHold(t, path))
}

// TestWho: the kernel tells who has the lock. The record counts only for its own process.
func TestWho(t *testing.T) {
	lab.NeedProgram(t, "flock")
	path := filepath.Join(t.TempDir(), "lock")
	gone := backendtest.Request()
	gone.Owner.Helper = backendtest.DeadProcess(t)
	for name, c := range map[string]struct{ script, says string }{
		"handed on":  {`exec 9>>"$0"; flock -n 9; echo ready; read line`, `^pid PID \(sh\); locked by pid \d+, which is gone$`},
		"flock(1)":   {`exec flock "$0" sh -c 'echo ready; read line'`, `^pid PID \(flock\); kept by pid \d+ \(sh\), too$`},
		"in common":  {`exec 9>>"$0"; flock -s 9; echo ready; read line`, `^pid PID \(sh\); locked by`},
		"in one own": {`exec perl -e 'use Fcntl ":flock"; open F, ">>", $ARGV[0]; flock F, LOCK_EX; $| = 1; print "ready\n"; <STDIN>' "$0"`, `^pid PID \(perl\)$`},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.MustRelease(t, backendtest.MustHold(t, attemptAt(t, path, gone))) // its record stays
			p := script(t, path, c.script)
			once := backendtest.Request()
			once.Timeout = 0
			held := backendtest.MustBeHeld(t, attemptAt(t, path, once))
			all := report(t, path).Holders
			if says := strings.ReplaceAll(c.says, "PID", strconv.Itoa(p.PID())); len(all) != 1 || !regexp.MustCompile(says).MatchString(all[0].String()) {
				t.Errorf("Read sees it held by %+v, want %q", all, says)
			}
			if held.Holder.Record != nil || all[0].Record != nil || held.Holder.PID != p.PID() {
				t.Errorf("the error of Try names the holder %+v", held.Holder)
			}
			p.LetGo()
			p.Status()
		})
	}
}

// TestLeftToOthers: the process on record is gone, and what it left still has the lock.
func TestLeftToOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	p := script(t, path, `exec 9>>"$0"; python3 -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX); import os; print(os.getpid(), flush=True)' >&2; echo ready; read line`)
	taker, err := strconv.Atoi(strings.TrimSpace(p.Stderr()))
	backendtest.MustWork(t, err)
	r := backendtest.Request().Owner
	r.Helper.PID, r.Helper.Start = taker, 1
	record, text, err := newRecord(r)
	backendtest.MustWork(t, err, os.WriteFile(path, []byte(text), 0o644))
	all := report(t, path).Holders
	if len(all) != 1 || all[0].ID != record.ID || all[0].Verdict != owner.Orphaned || !strings.Contains(all[0].Note, "its job ended; pid "+strconv.Itoa(p.PID())) {
		t.Errorf("of a lock that was left to others Read sees %+v", all)
	}
	backendtest.MustFail(t, backendtest.BreakID(t.Context(), openLock(t, path), record.ID), protocol.Held, "kill "+strconv.Itoa(p.PID()))
	p.LetGo()
	p.Status()
	if all := report(t, path).Holders; len(all) > 0 {
		t.Errorf("once they have gone Read sees %+v", all)
	}
}

// TestReplacedWhileAsleep: a waiter that gets the lock of a file which the path does not name
// any more begins anew, with the file that is there.
func TestReplacedWhileAsleep(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return exec.Command("sh", "-c", `echo '#!/bin/sh' >"$0.new"; mv "$0.new" "$0"`, path).Run()
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			first := mustHold(t, path)
			a := attemptAt(t, path, backendtest.Request())
			backendtest.MustBeHeld(t, a)
			done := make(chan error, 1)
			go func() { done <- a.Wait(t.Context()) }()
			lab.Eventually(t, "it sleeps", func() bool { s, err := flocks.Glance(path); return err == nil && s.Waiting() == 1 })
			backendtest.MustWork(t, replace(path))
			backendtest.MustBeLost(t, first)
			_ = first.file.Close()
			backendtest.MustWork(t, <-done)
			h := backendtest.MustAcquire(t, a)
			backendtest.MustStillHold(t, h)
			f, err := lockfile.OpenShared(path)
			backendtest.MustWork(t, err)
			if free, err := f.TryLock(); free || err != nil {
				t.Errorf("the new file is not locked by the waiter: another gets its lock: %v, %v", free, err)
			}
			_ = f.Close()
			backendtest.MustRelease(t, h)
		})
	}
}

// TestMoved: if a command has the lock, too, its holder is told once that the file was replaced,
// and goes on. The release says that the lock was lost, with or without a heartbeat before.
func TestMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	told := 0
	r := backendtest.Request()
	r.Moved = func(error) { told++ }
	h := backendtest.MustHold(t, attemptAt(t, path, r))
	backendtest.MustStillHold(t, h)
	backendtest.MustWork(t, os.Remove(path))
	for range 3 {
		backendtest.MustStillHold(t, h)
	}
	if told != 1 {
		t.Errorf("the holder was told %d times that the file was replaced, want 1", told)
	}
	short := backendtest.MustHold(t, attemptAt(t, path, r))
	backendtest.MustWork(t, os.Rename(path, path+".old"))
	for name, h := range map[string]backend.Hold{"told at a heartbeat": h, "short": short} {
		if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
			t.Errorf("%s: Release of a lock whose file was replaced: %v, want ErrGone", name, err)
		}
	}
}

// TestOneOfSeveral: a waiter that waits for others, too, sleeps in no queue of the kernel. It
// has the lock soon after it is let go, in whatever way.
func TestOneOfSeveral(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for name, letGo := range map[string]string{"closed": "exec 9>&-", "unlocked": "flock -u 9"} {
		p := script(t, path, `exec 9>>"$0"; flock 9; echo ready; read line; `+letGo+`; echo gone; read line`)
		r := backendtest.Request()
		r.Several = true
		a := attemptAt(t, path, r)
		backendtest.MustBeHeld(t, a)
		done := make(chan error, 1)
		go func() { done <- a.Wait(t.Context()) }()
		time.Sleep(100 * time.Millisecond)
		if s, err := flocks.Look(path); err != nil || len(s.Waiters) > 0 {
			t.Errorf("%s: a waiter of several sleeps in the kernel's queue: Look sees %+v, %v", name, s, err)
		}
		_, err := p.Stdin.Write([]byte("\n"))
		backendtest.MustWork(t, err)
		p.Expect("gone")
		backendtest.MustWork(t, <-done)
		backendtest.MustRelease(t, backendtest.MustAcquire(t, a))
		p.LetGo()
		p.Status()
	}
}

// TestRemoveKeepsLaterSuccess: the last success goes while the file is there, and so while nobody
// else has the lock. What the next holder puts down stays.
func TestRemoveKeepsLaterSuccess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	h := mustHold(t, path)
	l := openLock(t, path).(*Lock)
	backendtest.MustWork(t, shelf.Record(t.Context(), l, h))
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	backendtest.MustWork(t, err)
	defer unix.Close(watch)
	_, err = unix.InotifyAddWatch(watch, dir, unix.IN_DELETE)
	backendtest.MustWork(t, err)
	backendtest.MustWork(t, l.Remove(t.Context(), h))
	events := make([]byte, 4096)
	n, err := unix.Read(watch, events)
	backendtest.MustWork(t, err)
	file, success := strings.Index(string(events[:n]), "lock\x00"), strings.Index(string(events[:n]), "lock"+lockfile.SuccessSuffix+"\x00")
	if file < 0 || success < 0 || file < success {
		t.Errorf("the file goes in event %d, its success in event %d; want both, the success first", file, success)
	}
}

// TestWatchersDoNotWakeEachOther: a refused try of one that watches the file is no event to the
// others. Else a crowd of them would try without end.
func TestWatchersDoNotWakeEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, path)
	r := backendtest.Request()
	r.Several = true
	r.Polls = &backoff.Config{Poll: backoff.Range{Min: time.Hour, Max: time.Hour}}
	once := r
	once.Timeout = firstLook // too short to look later
	sleeper := attemptAt(t, path, r)
	backendtest.MustBeHeld(t, sleeper)
	woken := make(chan error, 1)
	go func() { woken <- sleeper.Wait(t.Context()) }()
	time.Sleep(50 * time.Millisecond) // it watches by then, or the test proves less
	for _, r := range []backend.Request{r, once} {
		a := attemptAt(t, path, r)
		for range 3 {
			if held := backendtest.MustBeHeld(t, a); held.Holder.ID != h.id {
				t.Errorf("the holder is told as %+v, want its record", held.Holder)
			}
		}
		defer a.close()
	}
	select {
	case <-woken:
		t.Error("a refused try wakes another that waits")
	case <-time.After(50 * time.Millisecond):
		backendtest.MustRelease(t, h)
		backendtest.MustWork(t, <-woken)
	}
}

// TestExamine: a usual directory is fit, and nothing stays there.
func TestExamine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var all []backend.Check
	backendtest.MustStay(t, filepath.Dir(path), func() {
		backendtest.MustWork(t, openLock(t, path).Examine(t.Context(), backend.Examination{}, func(c backend.Check) { all = append(all, c) }))
	})
	names := ""
	for _, c := range all {
		names += c.Name + " "
		if c.Finding != backend.Fit && c.Name != "space" && c.Name != "file system" && c.Name != "cleaning" {
			t.Errorf("%+v", c)
		}
	}
	for _, want := range []string{"kernel lock", "two lock the same", "shared lock", "inherited lock", "path and file"} {
		if !strings.Contains(names, want) {
			t.Errorf("no check %q in %s", want, names)
		}
	}
}

// TestGivenWhileLooking: the kernel gives the lock in the moment in which we look who has it. Whoever
// believed that look would find itself to be the holder, and give up.
func TestGivenWhileLooking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 20 {
		first := mustHold(t, path)
		a := attemptAt(t, path, backendtest.Request())
		backendtest.MustBeHeld(t, a)
		done := make(chan error, 1)
		go func() { done <- a.Wait(t.Context()) }()
		lab.Eventually(t, "it sleeps", func() bool { s, err := flocks.Glance(path); return err == nil && s.Waiting() == 1 })
		backendtest.MustRelease(t, first)
		lab.Eventually(t, "it is given", func() bool { return a.file.IsLocked() })
		backendtest.MustWork(t, <-done)
		given := a.sleep // as if that thread had not been told yet
		a.sleep = detached.GoErr(func() error { time.Sleep(20 * time.Millisecond); _, err := given.Result(); return err })
		backendtest.MustRelease(t, backendtest.MustHold(t, a))
	}
}
