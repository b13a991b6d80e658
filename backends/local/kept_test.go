//go:build unix

package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/test/lab"
)

// keptAttempt is an attempt on a lock with ?empty=free.
func keptAttempt(t *testing.T, path string, r backend.Request) *attempt {
	t.Helper()
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: map[string]string{"empty": "free"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

func mustBeLeftEmpty(t *testing.T, path string, before os.FileInfo) {
	t.Helper()
	after, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, after) || after.Size() != 0 || after.Mode() != before.Mode() {
		t.Errorf("it was %v, now it is %v, %v", before, after, err)
	}
}

// TestEmptyIsFree: with ?empty=free, we take the file that flock(1) left, and give it back in
// place. Whoever has its kernel lock has the lock.
func TestEmptyIsFree(t *testing.T) {
	path := putFile(t, "", 0)
	before, err := os.Lstat(path)
	backendtest.MustWork(t, err)
	h := mustHold(t, keptAttempt(t, path, backendtest.Request()))
	// 1. A waiter without ?empty=free respects the holder, and so does flock(1).
	if holder := mustBeHeld(t, attemptAt(t, path, backendtest.Request())); holder.ID != h.ID() {
		t.Errorf("held by %+v", holder)
	}
	flock := mustOpen(t, path)
	if free, err := flock.TryLock(); free || err != nil {
		t.Fatalf("kernel lock: %v, %v", free, err)
	}
	waiter := keptAttempt(t, path, backendtest.Request())
	mustBeHeld(t, waiter)
	mustStillHold(t, h)
	// 2. A release wakes the waiter. It leaves the same file, so flock(1), which has the file
	// open already, gets a lock that counts.
	mustRelease(t, h)
	mustBeLeftEmpty(t, path, before)
	if err := unblocked(t, func() error { return waiter.Wait(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	mustLock(t, flock)
	if holder := mustBeHeld(t, waiter); !strings.Contains(holder.Note, "flock(1)") || holder.Advice != "" {
		t.Errorf("held by %+v", holder)
	}
	flock.Close()
	h = mustAcquire(t, waiter)
	// 3. If somebody removes the file nevertheless, the holder notices.
	backendtest.MustWork(t, os.Remove(path))
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat without the file: %v", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("release without the file: %v", err)
	}
	// 4. If there is no file, one is made.
	mustRelease(t, mustHold(t, keptAttempt(t, path, backendtest.Request())))
	if st, err := os.Lstat(path); err != nil || st.Size() != 0 || st.Mode()&os.ModeSticky != 0 {
		t.Errorf("left behind: %v, %v", st, err)
	}
}

// TestKeptOfTheDead: a dead holder's record is judged as in other files, and its file is taken in
// place. Other content is respected.
func TestKeptOfTheDead(t *testing.T) {
	path := deadLock(t)
	before, err := os.Lstat(path)
	backendtest.MustWork(t, err)
	h := mustHold(t, keptAttempt(t, path, backendtest.Request()))
	if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("another file: %v, %v", after, err)
	}
	mustRelease(t, h)
	r, c := fakeRequest()
	a := keptAttempt(t, putRecord(t, elsewhere()), r)
	mustBeHeld(t, a)
	c.advance(elsewhere().Lease * 2)
	mustRelease(t, mustHold(t, a))
	a = keptAttempt(t, putFile(t, "garbage\n", 0), r)
	for range 3 {
		mustBeHeld(t, a)
		c.advance(longTime)
	}
}

// TestClear: an operator can remove a file without an id, if it is the file that the operator saw
// and nobody has its kernel lock.
func TestClear(t *testing.T) {
	path := putFile(t, "", 0)
	l := openLock(t, path).(*Lock)
	report, err := l.Inspect(t.Context())
	if err != nil || len(report.Holders) != 1 || report.Holders[0].Advice == "" {
		t.Fatalf("Inspect gives %+v and the error %v, want one holder with advice", report, err)
	}
	sign := report.Holders[0].Sign
	other := mustOpen(t, path)
	mustLock(t, other)
	mustFail(t, l.Break(t.Context(), sign), "held", "fuser "+path)
	other.Close()
	mustFail(t, l.Break(t.Context(), sign+"x"), "gone", "locksmith status")
	if err := l.Break(t.Context(), sign); err != nil {
		t.Error(err)
	}
	mustBeEmpty(t, filepath.Dir(path))
	mustFail(t, l.Break(t.Context(), sign), "gone", "locksmith status")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	report, err = l.Inspect(t.Context())
	backendtest.MustWork(t, err)
	mustFail(t, l.Break(t.Context(), report.Holders[0].Sign), "gone", "locksmith status")
	mustRelease(t, h)
}

// TestBesideFlock: in a crowd, flock(1) excludes run, and run excludes flock(1).
func TestBesideFlock(t *testing.T) {
	flock, exe, dir := lab.NeedProgram(t, "flock"), lab.Program(t, "cmd/locksmith"), t.TempDir()
	lock, counter := filepath.Join(dir, "lock"), filepath.Join(dir, "counter")
	backendtest.MustWork(t, os.WriteFile(counter, []byte("0\n"), 0o600))
	const each, rounds = 3, 15
	add := fmt.Sprintf("n=$(cat %[1]s); sleep 0.001; echo $((n + 1)) >%[1]s", counter)
	var all sync.WaitGroup
	for range each {
		for _, command := range [][]string{{flock, lock}, {exe, "run", "local:" + lock + "?empty=free", "--"}} {
			all.Go(func() {
				for range rounds {
					args := append(command[1:len(command):len(command)], "sh", "-c", add)
					if out, err := exec.Command(command[0], args...).CombinedOutput(); err != nil {
						t.Errorf("%s: %v\n%s", command[0], err, out)
					}
				}
			})
		}
	}
	all.Wait()
	got, err := os.ReadFile(counter)
	if want := strconv.Itoa(2*each*rounds) + "\n"; err != nil || string(got) != want {
		t.Errorf("counted %q, %v, want %q", got, err, want)
	}
}
