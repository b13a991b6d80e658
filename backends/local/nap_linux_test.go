package local

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/backendtest"
	"locksmith/test/lab"
)

// noInotify is set in the copy of the test's program that has no inotify.
const noInotify = "LOCKSMITH_TEST_NO_INOTIFY"

// TestHelperLivesOn: a helper that serves one lock after another releases a lock and does not
// end. Without inotify, too, a waiter gets the lock soon after that.
func TestHelperLivesOn(t *testing.T) {
	if os.Getenv(noInotify) != "" {
		waitWithoutInotify(t)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestHelperLivesOn$")
	cmd.Env = append(os.Environ(), noInotify+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		lab.Lacking(t, "this user may make no user namespace, in which inotify can be forbidden: "+err.Error())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func waitWithoutInotify(t *testing.T) {
	if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/lock"
	r := backendtest.Request()
	r.Several = true
	h := mustHold(t, attemptAt(t, path, r)) // for this process, which lives on
	var all []*sleeper
	for range 3 {
		s := &sleeper{attemptAt(t, path, r), nil, make(chan error, 1)}
		mustBeHeld(t, s)
		s.wait(t)
		all = append(all, s)
	}
	begun := time.Now()
	mustRelease(t, h)
	for _, s := range all {
		mustRelease(t, s.mustTake(t))
	}
	if took := time.Since(begun); took > rareLook/2 {
		t.Errorf("three waiters had the lock after %v: nothing woke them but rare looks", took)
	}
}
