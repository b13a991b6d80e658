package client_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// TestKilledAtRelease: if a helper does not end in time, Release says that it did not release
// the lock, whatever first showed that the helper is gone.
func TestKilledAtRelease(t *testing.T) {
	for range 10 {
		address, path := newLock(t)
		l := acquire(t, address, client.KillAfter(20*time.Millisecond))
		lab.Stop(t, helperPID(t, path))
		var lost *client.LostError
		if err := l.Release(); !errors.As(err, &lost) || lost.Code != protocol.Unreleased {
			t.Errorf("Release with a helper that had to be killed returns %v", err)
		}
	}
}

// TestKillAfterNothing: KillAfter of no time at all means the usual time, so a healthy helper
// lives.
func TestKillAfterNothing(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		address, path := newLock(t)
		if err := acquire(t, address, client.KillAfter(d)).Release(); err != nil {
			t.Errorf("KillAfter(%v): Release by a healthy helper returns %v", d, err)
		}
		mustBeFree(t, path)
	}
}

// TestHelperDied: a program that lost its helper, and says that it has stopped, need not wait
// for its own lock, whatever the lease is.
func TestHelperDied(t *testing.T) {
	dir := t.TempDir()
	local, nfs, mkdir, link := "local:"+filepath.Join(dir, "local"), "nfs:"+filepath.Join(dir, "nfs"), "mkdir:"+filepath.Join(dir, "mkdir"), "link:"+filepath.Join(dir, "link")
	for name, locks := range map[string][]string{
		"local": {local}, "nfs": {nfs}, "mkdir": {mkdir}, "link": {link}, "set": {local, "exclusive:" + nfs, mkdir, link},
	} {
		t.Run(name, func(t *testing.T) {
			l, pid := withHelper(t, locks)
			kill(t, pid)
			if mustBeLost(t, l, protocol.Internal); l.Release() == nil {
				t.Error("Release of a lost lock returns no error")
			}
			mustBeHad(t, locks)
		})
	}
}

// TestHelperKilledByUs: nor need a program that had to kill its helper.
func TestHelperKilledByUs(t *testing.T) {
	_, path := newLock(t)
	locks := []string{"nfs:" + path}
	l, pid := withHelper(t, locks, client.KillAfter(20*time.Millisecond))
	lab.Stop(t, pid)
	if err := l.Release(); !errors.Is(err, l.Err()) {
		t.Error(err)
	}
	mustBeHad(t, locks)
}

// TestOnlyOurRemains: a lock of another process, or of a living helper, is left alone.
func TestOnlyOurRemains(t *testing.T) {
	_, path := newLock(t)
	address := "nfs:" + path
	l, _ := withHelper(t, []string{address})
	for parent, helper := range map[int]string{os.Getpid(): "that lives", os.Getppid(): "of another"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "break", "--left-by", strconv.Itoa(parent), "--id", l.ID(), address)
		cmd.Env = append(os.Environ(), "LOCKSMITH_SELF_HELPER=1")
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != protocol.Held.Exit() {
			t.Errorf("the lock of a helper %s is not left alone: %v, %s", helper, err, said)
		}
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// withHelper acquires locks with a lease that no test waits for, and returns their helper's pid.
func withHelper(t *testing.T, locks []string, options ...client.Option) (*client.Lock, int) {
	t.Helper()
	l, err := client.Acquire(t.Context(), locks[0], append(options, client.And(locks[1:]...), client.Lease(time.Hour))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Release() })
	_, err = client.Acquire(t.Context(), strings.TrimPrefix(locks[0], "exclusive:"), client.Retries(0))
	held, ok := errors.AsType[*client.HeldError](err)
	if !ok {
		t.Fatal(err)
	}
	return l, held.Holder.PID
}

// mustBeHad takes locks that nobody has, much sooner than their lease is over.
func mustBeHad(t *testing.T, locks []string) {
	t.Helper()
	l, err := client.Acquire(t.Context(), locks[0], client.And(locks[1:]...), client.Timeout(timeout))
	if err != nil {
		t.Fatalf("the lock of a dead helper is still held: %v; look at breakRemains (remains.go)", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
