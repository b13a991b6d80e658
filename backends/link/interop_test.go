//go:build unix

package link

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksmith/backends/backendtest"
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
