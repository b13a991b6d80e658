//go:build unix

package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/lockfile"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

const (
	makerRole     = "maker"
	makerFile     = "LOCKSMITH_TEST_FILE"
	makerIsOK     = 3 // its exit status
	makerIsRobbed = 4
)

// stopBetween makes a lock file and stops. When it is woken, it goes on as every maker does.
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

// TestMakerStops: a maker is stopped, or killed, between making its file and writing it. It holds
// up nobody for a second, and when it is woken it finds out.
func TestMakerStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	maker := lab.Copy(makerRole, makerFile+"="+path)
	backendtest.MustWork(t, maker.Start())
	t.Cleanup(func() { _ = maker.Process.Kill(); _ = maker.Wait() })
	var status unix.WaitStatus
	if _, err := unix.Wait4(maker.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the maker: %v, %v", status, err)
	}
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	backendtest.MustWork(t, maker.Process.Signal(unix.SIGCONT))
	_ = maker.Wait()
	if got := maker.ProcessState.ExitCode(); got != makerIsRobbed {
		t.Errorf("the maker that was woken ended with %d", got)
	}
	mustStillHold(t, h)
	mustRelease(t, h)
	mustBeEmpty(t, filepath.Dir(path))
}

// TestMakerWaitsForALook: others keep the kernel lock of a new file for the time of a look, and
// its maker waits for that. Whoever keeps the lock for longer has made the file its own, and
// delays the maker only for a moment.
func TestMakerWaitsForALook(t *testing.T) {
	for keeps, want := range map[time.Duration]struct {
		robbed bool
		after  time.Duration // about
	}{
		0:                     {false, 0},
		20 * time.Millisecond: {false, 20 * time.Millisecond},
		time.Hour:             {true, 100 * time.Millisecond},
	} {
		t.Run(keeps.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			synctest.Test(t, func(t *testing.T) {
				maker, err := lockfile.Create(path)
				backendtest.MustWork(t, err)
				other, err := open(path)
				backendtest.MustWork(t, err)
				if free, err := other.TryLock(); !free {
					t.Fatal(err)
				}
				begin := time.Now()
				late := time.AfterFunc(keeps, func() { _ = other.Close() })
				err = new(Lock).finish(maker, "1\n")
				if took := (time.Since(begin) - want.after).Abs(); errors.Is(err, lockfile.ErrReplaced) != want.robbed || took > 5*time.Millisecond {
					t.Errorf("%v after %v, want robbed: %v after %v", err, time.Since(begin), want.robbed, want.after)
				}
				if late.Stop() {
					_ = other.Close()
				}
			})
		})
	}
}
