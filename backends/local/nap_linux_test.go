package local

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"locksmith/test/backendtest"
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

// An unreadable system does not let this process read the lock file, but lets it watch the file, as
// under landlock(7) and AppArmor.
type unreadable struct{ *machine }

func (unreadable) Open() (File, error) { return nil, fs.ErrPermission }

// TestUnreadableFileThatCanBeWatched: a waiter for it sleeps, until the next look is due or the file
// goes.
func TestUnreadableFileThatCanBeWatched(t *testing.T) {
	path := putFile(t, "1\n", 0)
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	a.system = unreadable{a.system.(*machine)}
	mustBeHeld(t, a)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := a.Wait(short); err == nil {
		t.Error("it does not sleep, but asks without a break")
	}
	for _, wake := range []func(woken <-chan error){
		func(woken <-chan error) {
			lab.Eventually(t, "the next look is due", func() bool {
				c.advance(slowLook) // again and again: it may not have set its alarm yet
				return len(woken) > 0
			})
		},
		func(<-chan error) { backendtest.MustWork(t, os.Remove(path)) },
	} {
		woken := make(chan error, 1)
		go func() { woken <- a.Wait(t.Context()) }()
		time.Sleep(50 * time.Millisecond)
		wake(woken)
		select {
		case err := <-woken:
			backendtest.MustWork(t, err)
		case <-time.After(patience):
			t.Fatal("it sleeps on")
		}
	}
	mustRelease(t, mustHold(t, a))
}
