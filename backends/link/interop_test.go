//go:build unix

package link

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
)

// script locks as people's scripts do: it links a file of its own to the lock.
const script = `echo $$ >"$1.$$" && ln "$1.$$" "$1" 2>/dev/null; won=$?; rm -f "$1.$$"; exit $won`

func lnTakes(t *testing.T, path string) bool {
	t.Helper()
	err := exec.Command("sh", "-c", script, "sh", path).Run()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return err == nil
}

// TestLn: we exclude a script that uses ln, and are excluded by it.
func TestLn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	if lnTakes(t, path) {
		t.Error("the script took a lock that we hold")
	}
	mustRelease(t, h)
	if !lnTakes(t, path) {
		t.Fatal("the script did not get a lock that is free")
	}
	a := attemptAt(t, path, backendtest.Request())
	if held := mustBeHeld(t, a); held.Holder.PID == 0 {
		t.Errorf("a script's lock is held by %+v, want its pid", held.Holder)
	}
	mustWork(t, os.Remove(path))
	mustRelease(t, mustHold(t, a))
	mustBeEmpty(t, dir)
}

// TestTclHolder: a lockf of Tcl that died on this host is broken by proof, and one that lives, or is of
// another host, is not.
func TestTclHolder(t *testing.T) {
	dead, here := backendtest.DeadProcess(t).PID, owner.Here()
	if here.PIDNS != process.FirstPIDNS {
		t.Skip("the name of a host proves nothing in a container")
	}
	for _, c := range []struct {
		host  string
		pid   int
		taken bool
	}{{here.Host, dead, true}, {here.Host, os.Getpid(), false}, {"elsewhere", dead, false}} {
		path := filepath.Join(t.TempDir(), "lock")
		text := fmt.Sprintf("host %s pid %d lockfile %s locker %s.lck timestamp 1764262013012 time {2026-11-27 16:46:53.12} randomiser {}", c.host, c.pid, path, path)
		backendtest.MustWork(t, os.WriteFile(path, []byte(text), 0o644))
		l, err := Open(backend.Address{Scheme: Scheme, Path: path})
		backendtest.MustWork(t, err)
		a, err := l.Attempt(backendtest.Request())
		backendtest.MustWork(t, err)
		h, err := a.Try(t.Context())
		if taken := err == nil; taken != c.taken {
			t.Errorf("the lock of pid %d on %s: %v, want that it is taken: %v", c.pid, c.host, err, c.taken)
		}
		if err == nil {
			backendtest.MustRelease(t, h)
		} else {
			backendtest.MustWork(t, a.Withdraw(t.Context()))
		}
	}
}
