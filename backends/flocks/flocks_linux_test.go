package flocks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// TestHandedOn: a script got the lock from flock(1), which has ended.
func TestHandedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	script := lab.Start(t, exec.Command("sh", "-c", `exec 9>"$0"; flock -n 9; echo ready; read line`, path))
	script.Expect("ready")
	s, err := Look(path)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Held() || len(s.Keepers) != 1 || s.Keepers[0].PID != script.PID() || slices.Contains(s.Takers, script.PID()) || len(s.Waiters) > 0 {
		t.Errorf("Look sees %+v, want the script (pid %d) as the only keeper, and another taker", s, script.PID())
	}
	if s.Keepers[0].Taker == 0 || s.Keepers[0].Taker == script.PID() || s.Shared {
		t.Errorf("Look sees %+v, want flock(1) as the keeper's taker, and no sharing", s)
	}
	if glance, err := Glance(path); err != nil || !slices.Equal(glance.Keepers, s.Keepers) {
		t.Errorf("Glance sees %+v, %v, want the same keeper", glance, err)
	}
	if peek, err := Peek(path); err != nil || len(peek.Keepers) > 0 || !slices.Equal(peek.Takers, s.Takers) {
		t.Errorf("Peek sees %+v, %v, want no keeper, and the taker that is gone", peek, err)
	}
	if of := Of(path, os.Getpid(), script.PID()); !slices.Equal(of.Keepers, s.Keepers) {
		t.Errorf("Of these two Of sees %+v, want the same keeper", of)
	}
	// A look does not take the lock, and it sees a waiter.
	waiter := lab.Start(t, exec.Command("flock", path, "true"))
	lab.Eventually(t, "the waiter is seen", func() bool {
		s, err := Look(path)
		return err == nil && slices.Equal(s.Waiters, []int{waiter.PID()})
	})
	script.LetGo()
	script.Status()
	waiter.Status()
	if s, err := Look(path); err != nil || s.Held() {
		t.Errorf("of a file that nobody has locked Look sees %+v, %v", s, err)
	}
}

// TestAreThere: a look that lacks a taker does not mean that the lock went on.
func TestAreThere(t *testing.T) {
	for _, c := range []struct {
		takers, before []int
		want           bool
	}{{nil, nil, false}, {nil, []int{7}, false}, {[]int{7}, nil, false}, {[]int{7}, []int{7}, true}, {[]int{7}, []int{8, 7, 9}, true}, {[]int{7, 9}, []int{7}, false}} {
		if got := areThere(c.takers, c.before); got != c.want {
			t.Errorf("takers %v after %v: %v, want %v", c.takers, c.before, got, c.want)
		}
	}
}

// TestWaiting: a process that watches the file while a thread of it sleeps is one waiter, not
// two.
func TestWaiting(t *testing.T) {
	for want, s := range map[int]Seen{
		0: {Takers: []int{1}},
		2: {Waiters: []int{7, 8}, Seats: 2, Sitters: []int{8, 7}},
		3: {Waiters: []int{7, 8}, Seats: 2, Sitters: []int{9, 7}},
		4: {Waiters: []int{7}, Seats: 4}, // whose they are, we may not see
	} {
		if got := s.Waiting(); got != want {
			t.Errorf("of %+v Waiting counts %d, want %d", s, got, want)
		}
	}
}

// TestOpen: a process that has the file open, or has another kind of lock on it, has not locked
// it.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	if s, err := Look(path); err != nil || s.Held() {
		t.Errorf("of a file that is open, or locked by fcntl, Look sees %+v, %v, want nobody", s, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if s, err := Look(path); err != nil || len(s.Keepers) != 1 || s.Keepers[0].PID != os.Getpid() {
		t.Errorf("of a file that this process locked Look sees %+v, %v", s, err)
	}
}

func TestParse(t *testing.T) {
	for line, want := range map[string]lock{
		"1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF\n":    {flock, false, false, 4242, "08:01", 131},
		"1: -> FLOCK  ADVISORY  READ 4243 103:01:131 0 EOF\n": {flock, true, true, 4243, "103:01", 131},
		"2: OFDLCK ADVISORY  READ -1 fe:00:10207297 1 1\n":    {ofd, false, true, -1, "fe:00", 10207297},
	} {
		if got, ok := parse(line); !ok || got != want {
			t.Errorf("parse of %q: %+v, %v; want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "\n", "2: POSIX  ADVISORY  READ 5433 08:01:7864448 128 128\n", "1: FLOCK\n", "2: OFDLCK ADVISORY  WRITE -1 fe:00:10207297 1 1\n", "2: OFDLCK ADVISORY  READ -1 fe:00:10207297 0 EOF\n", "1: FLOCK a b c d e", "1: ->", "lock"} {
		if got, ok := parse(line); ok {
			t.Errorf("parse takes %q for a lock: %+v", line, got)
		}
	}
}

// TestChurn: a file that is locked all the while is never seen free beside two that lock and unlock
// many others. The kernel gives /proc/locks a page at a time, and goes on by position.
func TestChurn(t *testing.T) {
	dir := t.TempDir()
	held := lockedFile(t, filepath.Join(dir, "held"))
	stop := make(chan struct{})
	var churn sync.WaitGroup
	for one := range 2 {
		var all []*os.File
		for i := range 200 {
			all = append(all, lockedFile(t, filepath.Join(dir, fmt.Sprint(one, ".", i))))
		}
		churn.Go(func() { lockAndUnlock(all, stop) })
	}
	defer churn.Wait()
	defer close(stop)
	missed := 0
	const looks = 2000
	for range looks {
		s, err := see(held.Name(), take(), snapshot.queue)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Held() {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d looks did not see the lock", missed, looks)
	}
}

// lockedFile makes a file, and locks it.
func lockedFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// lockAndUnlock unlocks all files and locks them again, until it is to stop.
func lockAndUnlock(all []*os.File, stop <-chan struct{}) {
	for {
		for _, how := range []int{unix.LOCK_UN, unix.LOCK_EX} {
			for _, f := range all {
				_ = unix.Flock(int(f.Fd()), how)
			}
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}
