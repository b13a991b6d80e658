//go:build unix

package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backendtest"
	"locksmith/backends/lockfile"
	"locksmith/test/lab"
)

const (
	makerRole     = "maker"
	makerFile     = "LOCKSMITH_TEST_FILE"
	makerIsOK     = 3 // its exit status
	makerIsRobbed = 4
)

// stopBetween makes a lock file, stops, and when woken goes on as every maker does.
func stopBetween() int {
	f, err := lockfile.Create(os.Getenv(makerFile))
	if err != nil {
		return 1
	}
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	time.Sleep(100 * time.Millisecond) // the signal may reach another thread first
	switch err := new(Lock).finish(f, "1\n"); {
	case err == nil:
		return makerIsOK
	case errors.Is(err, lockfile.ErrReplaced):
		return makerIsRobbed
	}
	return 1
}

// TestMakerStops: one that was stopped, or killed, between making its file and writing
// it stalls nobody for a second, and when it is woken it finds out.
func TestMakerStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	maker := lab.Copy(makerRole, makerFile+"="+path)
	backendtest.MustWork(t, maker.Start())
	t.Cleanup(func() { _ = maker.Process.Kill(); _ = maker.Wait() })
	var status unix.WaitStatus
	if _, err := unix.Wait4(maker.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the maker: %v, %v", status, err)
	}
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	mustBeHeld(t, a)
	c.advance(time.Second)
	h := mustHold(t, a)
	backendtest.MustWork(t, maker.Process.Signal(unix.SIGCONT))
	_ = maker.Wait()
	if got := maker.ProcessState.ExitCode(); got != makerIsRobbed {
		t.Errorf("the maker that was woken ended with %d", got)
	}
	mustStillHold(t, h)
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}
