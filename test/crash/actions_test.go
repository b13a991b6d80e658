//go:build linux && amd64

package crash

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// before is called at the beginning of a call.
func (t *tracer) before(tid int, c *call) error {
	if !c.counts {
		return nil
	}
	if c.changes {
		t.number(c)
		t.changes++
		if t.changes == t.Fail {
			return t.failCall(tid, c)
		}
	}
	t.at("before", c)
	if t.pausesBefore(c) {
		return t.pause(tid, "before", c)
	}
	return nil
}

// number distinguishes calls that are made several times.
func (t *tracer) number(c *call) {
	t.times[c.String()]++
	if n := t.times[c.String()]; n > 1 {
		c.what += fmt.Sprintf(" (time %d)", n)
	}
}

// after is called at the end of a call, when only the kernel knows its answer.
func (t *tracer) after(tid int, c *call, result int64) error {
	t.note(c, result)
	if !c.counts {
		return nil
	}
	if c.fail {
		if err := setResult(tid, -int64(t.Errno)); err != nil {
			return ignoreGone(err)
		}
	}
	t.at("after", c)
	if t.pausesAfter(c, result) {
		return t.pause(tid, "after", c)
	}
	return nil
}

// at counts a stop, and kills the helper if the plan says so.
func (t *tracer) at(when string, c *call) {
	if t.Seen && !c.changes {
		return
	}
	t.stops++
	t.parent.stops = t.stops
	if t.stops == t.Kill {
		word := "stop"
		if c.changes {
			word = "change"
		}
		t.parent.tell("%s %d %s %v", word, t.stops, when, c)
		_ = syscall.Kill(t.pid, syscall.SIGKILL) // all its threads; it exists
	}
}

// failCall makes a call fail. The call is not executed, unless only its answer is to be lost.
func (t *tracer) failCall(tid int, c *call) error {
	if t.impossible(c) {
		t.parent.tell("spared %v", c)
		return nil
	}
	t.parent.tell("stop %d fail %v", t.changes, c)
	c.fail = true
	if t.TakesIt {
		return nil
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return ignoreGone(err)
	}
	regs.Orig_rax = ^uint64(0) // no call
	return ignoreGone(syscall.PtraceSetRegs(tid, &regs))
}

// impossible reports whether no kernel would tell such a lie. A pipe that took a line does not
// say that it failed. An interrupted write has written nothing. A call that finds nothing to
// remove has removed nothing.
func (t *tracer) impossible(c *call) bool {
	switch {
	case c.name == "write" && c.args[0] == 1:
		return t.TakesIt
	case c.name == "write":
		return t.TakesIt && t.Errno == unix.EINTR
	case c.removes():
		return !t.TakesIt && t.Errno == unix.ENOENT
	}
	return false
}

func setResult(tid int, result int64) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Rax = uint64(result)
	return syscall.PtraceSetRegs(tid, &regs)
}

// note notes which open files belong to the place.
func (t *tracer) note(c *call, result int64) {
	switch {
	case c.number == unix.SYS_OPENAT && result >= 0:
		delete(t.files, int(result))
		if c.ours {
			t.files[int(result)] = c.what
		}
	case c.number == unix.SYS_CLOSE:
		delete(t.files, int(c.args[0]))
	}
}
