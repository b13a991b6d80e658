//go:build linux && amd64

package crash

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab/mishaps"
)

// pausesBefore reports whether to pause before a call that is about to be made.
func (t *tracer) pausesBefore(c *call) bool {
	said, _, _ := strings.Cut(c.what, " ") // without a count (number)
	switch t.parent.moment.Load() {
	case mishaps.Waiting:
		return c.what == listing
	case atBegun:
		return c.name == "write" && said == "BEGUN"
	case mishaps.AtOK:
		return c.name == "write" && said == "OK"
	case mishaps.Heartbeat:
		return c.changes || t.Kernels && c.looks()
	case mishaps.Releasing:
		if t.Kernels {
			return c.looks()
		}
		return c.changes && c.removes()
	}
	return false
}

// pausesAfter reports whether to pause after a call that was made.
func (t *tracer) pausesAfter(c *call, result int64) bool {
	if t.parent.moment.Load() != mishaps.Waiting {
		return false
	}
	refused := result == -int64(unix.EEXIST) || result == -int64(unix.ENOTEMPTY)
	refused = refused || c.name == "flock" && result == -int64(unix.EWOULDBLOCK)
	return c.changes && refused || c.name == "readlink" && c.ours
}

// pause pauses at the moment, and lets the test do what it wants.
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

// leave stops tracing the helper, and sends it a signal. For that all its threads must stop. The
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
	// It also takes back the stop that halt sent to threads which stopped for something else.
	_ = syscall.Kill(t.pid, syscall.SIGCONT) // the helper may have been killed
	if last == syscall.SIGSTOP {
		t.stopAll(halted)
	}
	if err := ignoreGone(syscall.PtraceDetach(paused)); err != nil {
		return err
	}
	t.parent.tell("left")
	return nil
}

// stopAll returns when all these threads have stopped. Then another thread stops as soon as it
// returns from a call.
func (t *tracer) stopAll(threads map[int]bool) {
	_ = syscall.Kill(t.pid, syscall.SIGSTOP) // the helper may have been killed
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
