//go:build unix

package client_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

func TestHelperStopped(t *testing.T) {
	address, path := newLock(t)
	pidFile := path + ".pid"
	ours := client.Helper("sh", "-c", `echo $$ >"$0"; LOCKSMITH_SELF_HELPER=1 exec "$@"`, pidFile, os.Args[0])
	l := acquire(t, address, ours, client.Lease(2*time.Second))
	pid := helperPID(t, pidFile)
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	mustBeLost(t, l, protocol.Expired)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if err := l.Release(); err == nil {
		t.Error("Release of a lost lock returns no error")
	}
	mustBecomeFree(t, path)
}

// TestHelperEnded: a helper that lets go by itself is a loss to a program that goes on, as when
// the service manager sends SIGTERM to every process of a service.
func TestHelperEnded(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address)
	_ = syscall.Kill(helperPID(t, path), syscall.SIGTERM)
	mustBeLost(t, l, protocol.Gone)
	var lost *client.LostError
	if err := l.Release(); !errors.As(err, &lost) {
		t.Errorf("Release after the helper let go returns %v, want the loss", err)
	}
	mustBecomeFree(t, path)
}

// TestReleasedTooSoon: a helper that says with its status that it let go before the program did is
// believed, though the program has called Release before the helper's line came.
func TestReleasedTooSoon(t *testing.T) {
	for _, status := range []int{protocol.Gone.Exit(), 128 + int(syscall.SIGTERM)} {
		address, _ := newLock(t)
		l, err := client.Acquire(t.Context(), address, client.Helper("sh", "-c",
			fmt.Sprintf("echo OK proto=1 waited_ms=0 lease_ms=60000; cat >/dev/null; echo RELEASED held_ms=0; exit %d", status)))
		if err != nil {
			t.Fatal(err)
		}
		loss, isLost := errors.AsType[*client.LostError](l.Release())
		if !isLost || loss.Code != protocol.Gone {
			t.Errorf("Release returns %v of a helper with status %d, want a loss", l.Err(), status)
		}
	}
}

// TestNoHelperStays: a helper that hangs in its release is killed.
func TestNoHelperStays(t *testing.T) {
	address, _ := newLock(t)
	file := filepath.Join(t.TempDir(), "pid")
	l, err := client.Acquire(t.Context(), address, client.KillAfter(50*time.Millisecond),
		client.Helper("sh", "-c", `echo $$ >"$0"; echo OK proto=1 waited_ms=0 lease_ms=60000; exec sleep 300`, file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	pid, err2 := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() { released <- l.Release() }()
	select {
	case err := <-released:
		if err == nil {
			t.Error("a release succeeded that no helper has answered: look at Lock.Release")
		}
	case <-time.After(lab.Patience):
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Fatalf("the release still waits after %v, for helper %d: that should have been killed after 50 ms, by end (helper.go), after which listen (lock.go) reads its end", lab.Patience, pid)
	}
	lab.Eventually(t, "the helper is gone, as end (helper.go) kills it and waits for it", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, func() string {
		state, _ := exec.Command("ps", "-o", "pid,ppid,stat,args", "-p", strconv.Itoa(pid)).CombinedOutput()
		return string(state)
	})
}
