//go:build linux && amd64

package crash

import (
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab/mishaps"
)

// pausesBefore reports that a call that is about to be made is the moment to pause at.
func (t *tracer) pausesBefore(c *call) bool {
	switch t.parent.moment.Load() {
	case mishaps.Waiting:
		return c.what == listing
	case mishaps.AtOK:
		return c.name == "write" && c.what == "OK"
	case mishaps.Heartbeat:
		return c.changes
	case mishaps.Releasing:
		return c.changes && c.removes()
	}
	return false
}

// pausesAfter reports the same of one that was made.
func (t *tracer) pausesAfter(c *call, result int64) bool {
	if t.parent.moment.Load() != mishaps.Waiting {
		return false
	}
	refused := result == -int64(unix.EEXIST) || result == -int64(unix.ENOTEMPTY)
	return c.changes && refused || c.name == "readlink" && c.ours
}

// pause lets the test do what it wants at the moment.
func (t *tracer) pause(tid int, when string, c *call) error {
	t.parent.moment.Store("")
	t.parent.tell("moment %s %v", when, c)
	switch order := <-t.parent.orders; order {
	case "go":
		return nil
	case "stop":
		return t.leave(tid, syscall.SIGSTOP)
	case "leave":
		return t.leave(tid, syscall.SIGCONT)
	default:
		return fmt.Errorf("no order %q", order)
	}
}

// leave lets the helper alone, with a signal. All its threads must stop for that. The
// one that pauses is left last: with a SIGSTOP it makes its call, and then stops, too.
func (t *tracer) leave(paused int, last syscall.Signal) error {
	t.left = true
	halted := map[int]bool{paused: true}
	for more := true; more; {
		more = false
		for _, tid := range threads(t.pid) {
			if !halted[tid] {
				more, halted[tid] = true, true
				t.halt(tid)
			}
		}
	}
	delete(halted, paused)
	for tid := range halted {
		if err := ignoreGone(syscall.PtraceDetach(tid)); err != nil {
			return err
		}
	}
	// It also takes back what halt sent to threads that stopped for something else.
	_ = syscall.Kill(t.pid, syscall.SIGCONT) // it may have been killed
	if last == syscall.SIGSTOP {
		t.stopAll(halted)
	}
	if err := ignoreGone(syscall.PtraceDetach(paused)); err != nil {
		return err
	}
	t.parent.tell("left")
	return nil
}

// stopAll returns when all these threads have stopped: then another one stops as soon as
// it returns from a call.
func (t *tracer) stopAll(threads map[int]bool) {
	_ = syscall.Kill(t.pid, syscall.SIGSTOP) // it may have been killed
	for tid := range threads {
		thread := fmt.Sprintf("/proc/%d/task/%d", t.pid, tid)
		for range 1000 {
			if s := state(thread); s == gone || s == 'T' {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// halt makes a thread stop, if it has not ended.
func (t *tracer) halt(tid int) {
	if syscall.Kill(tid, 0) == nil && unix.Tgkill(t.pid, tid, syscall.SIGSTOP) == nil {
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(tid, &status, unix.WALL, nil)
	}
}

func threads(pid int) []int {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	var all []int
	for _, name := range names {
		tid, _ := strconv.Atoi(filepath.Base(name))
		all = append(all, tid)
	}
	return all
}
