package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
)

const (
	roleContender = "contender"
	chaosVariable = "LOCKSMITH_TEST_CHAOS" // the style, and the directory of the lock
)

// TestChaos lets processes contend for one lock and kills some of them at random.
// The kernel's own lock, which dies with its process, is the witness that there
// are never two inside.
func TestChaos(t *testing.T) {
	for _, k := range []kindOfLock{plain, treeNumbered} {
		t.Run(k.String(), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "lock")
			stop, orphans := make(chan struct{}), make(chan int)
			go func() { orphans <- reapOrphans(path, k, stop) }()
			backendtest.Chaos(t, 8, 40, func() *exec.Cmd {
				return backendtest.Copy(t, roleContender, fmt.Sprint(chaosVariable, "=", int(k.style), " ", dir))
			})
			close(stop)
			entered, err := os.ReadFile(filepath.Join(dir, "log"))
			mustWork(t, err)
			t.Logf("entered %d times, died inside %d times, %d empty lock directories", strings.Count(string(entered), "<"),
				strings.Count(string(entered), "<")-strings.Count(string(entered), ">"), <-orphans)
			h := acquired(t, attemptAt(t, path, k, "exclusive"))
			mustWork(t, h.Tend(t.Context()))
			mustRelease(t, h)
			for _, left := range leftovers(t, path) {
				if !bare(left) && left != path {
					t.Errorf("left behind: %s", left)
				}
			}
		})
	}
}

// bare reports that there is no record in a reservation: its owner died before he
// waited, and then only a lease tells.
func bare(reservation string) bool {
	in, _ := filepath.Glob(filepath.Join(reservation, "*", "*"))
	return strings.Contains(filepath.Base(reservation), reservationPrefix) && len(in) == 0
}

// reapOrphans removes the plain lock while it is empty for long, as a job of an
// administrator does, and returns how often.
func reapOrphans(path string, k kindOfLock, stop <-chan struct{}) (n int) {
	if k != plain {
		<-stop
		return 0
	}
	var last unix.Stat_t
	since := time.Now()
	for {
		select {
		case <-stop:
			return n
		case <-time.After(10 * time.Millisecond):
		}
		var now unix.Stat_t
		if err := unix.Lstat(path, &now); err != nil || now.Ino != last.Ino || now.Ctim != last.Ctim || now.Nlink > 2 {
			last, since = now, time.Now()
		}
		if time.Since(since) > 300*time.Millisecond && unix.Rmdir(path) == nil {
			n++
		}
	}
}

// contend is a contender's life: it enters and leaves a few times.
func contend() int {
	style, dir, _ := strings.Cut(os.Getenv(chaosVariable), " ")
	k := plain
	if style != "0" {
		k = treeNumbered
	}
	for range 15 {
		if err := enterOnce(dir, k); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func enterOnce(dir string, k kindOfLock) error {
	l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock"), Options: options(k)})
	if err != nil {
		return err
	}
	r := requestFor("exclusive")
	r.Owner.Lease = 2 * time.Second // who died before his first heartbeat is unknown
	a, err := l.Attempt(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return err
	}
	if err := beInside(dir); err != nil {
		return err
	}
	err = h.Release(ctx)
	if errors.Is(err, backend.ErrGone) {
		return fmt.Errorf("a holder that lives was broken: %w", err)
	}
	return err
}

// beInside enters, stays a moment, and leaves.
func beInside(dir string) error {
	witness, err := os.OpenFile(filepath.Join(dir, "witness"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer witness.Close()
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := unix.Flock(int(witness.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("two are inside: %w", err)
	}
	_, err = fmt.Fprint(log, "<")
	time.Sleep(2 * time.Millisecond)
	_, err2 := fmt.Fprint(log, ">")
	return errors.Join(err, err2)
}
