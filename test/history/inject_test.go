//go:build unix

package history

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/test/lab"
)

// scheduleInjection arms the life's injection if it belongs to this phase of the round. The
// caller holds mu.
func (r *recorder) scheduleInjection(l *life, p phase) {
	if l.schedule.injection == spared || l.schedule.phase != p {
		return
	}
	round := l.contender.rounds
	time.AfterFunc(l.schedule.delay, func() { r.inject(l, round) })
}

// inject carries out the injection of the schedule. It does nothing if it comes too late. It also
// spares a lock that nobody has had for long, until somebody has it.
func (r *recorder) inject(l *life, round int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.process == nil { // we do not know yet that it runs
		return
	}
	helper, found := helperOf(l.process.Pid)
	c := l.contender
	now := clock.Boot{}.Now()
	if r.calm || l.killed || c.rounds != round || !found && l.schedule.injection != killParent && l.schedule.injection != killBoth {
		return
	}
	for _, m := range c.wish {
		if m.lock.gap != 0 && now-m.lock.gap > lease+lease/2 {
			return
		}
	}
	r.hit(l, helper)
	c.cell.tally.injections[l.schedule.injection]++
	if l.schedule.injection.deadly() {
		r.deaths++
		if r.deaths >= r.kills {
			r.calm = true
			close(r.calmed)
		}
	}
}

// hit sends the signals. After kill(2) has returned, nothing that a parent may do counts: it is
// dead, and closing its open files may take a while.
func (r *recorder) hit(l *life, helper process.Process) {
	l.hurt = true
	inside := l.section != nil
	if inside {
		l.section.injection, l.section.hurt = l.schedule.injection, clock.Boot{}.Now()
	}
	if l.contender.cell.kind.kernelDrops && (l.schedule.injection == killHelper || l.schedule.injection == killBoth) {
		l.dropped = clock.Boot{}.Now()
		if inside {
			l.section.dropped = l.dropped
		}
	}
	switch l.schedule.injection {
	case killParent:
		r.timeRelease(l, helper)
		r.end(l)
	case killHelper:
		kill(helper, unix.SIGKILL)
	case killBoth:
		// Either order. In the other one, the parent may still tell of its loss.
		if l.contender.rounds%2 == 0 {
			kill(helper, unix.SIGKILL)
			r.end(l)
		} else {
			r.end(l)
			kill(helper, unix.SIGKILL)
		}
	case stopBriefly, stopForLong:
		kill(helper, unix.SIGSTOP)
		r.stopped[helper] = true
		time.AfterFunc(l.schedule.stop, func() { r.wake(l, helper) })
	}
	r.mark(l.contender, l.schedule.injection, inside)
}

// end kills a parent.
func (r *recorder) end(l *life) {
	_ = l.process.Kill() // it may just have ended
	r.dead(l, clock.Boot{}.Now())
}

// wake lets a stopped helper go on.
func (r *recorder) wake(l *life, helper process.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kill(helper, unix.SIGCONT)
	delete(r.stopped, helper)
	r.mark(l.contender, spared, false)
}

// wakeAll lets all helpers go on, because their parents may be gone, and we soon are.
func (r *recorder) wakeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for helper := range r.stopped {
		kill(helper, unix.SIGCONT)
	}
}

// mark notes an injection at the contender's locks.
func (r *recorder) mark(c *contender, b injection, inside bool) {
	for _, m := range c.wish {
		m.lock.disturbed = clock.Boot{}.Now()
		if inside {
			m.lock.injected = b
		}
	}
}

// timeRelease measures how long a helper lives on without its parent.
func (r *recorder) timeRelease(l *life, helper process.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	exited, err := helper.Exited(ctx)
	if helper.PID == 0 || err != nil {
		cancel()
		return
	}
	k, start := l.contender.cell.tally, clock.Boot{}.Now()
	go func() {
		defer cancel()
		select {
		case <-exited:
		case <-ctx.Done():
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		k.release = append(k.release, clock.Boot{}.Now()-start)
	}()
}

// kill sends a signal to a process, unless it has ended.
func kill(p process.Process, s unix.Signal) {
	if p.PID != 0 && !p.Gone() {
		_ = unix.Kill(p.PID, s) // it may just have ended
	}
}

// helperOf returns the youngest child of a parent.
func helperOf(pid int) (process.Process, bool) {
	youngest := process.Process{}
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/children"))
	for _, file := range threads {
		text, _ := os.ReadFile(file) // the parent may have ended
		for field := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(field)
			if p, err := process.Find(child); err == nil && !p.Gone() && p.Start >= youngest.Start {
				youngest = p
			}
		}
	}
	return youngest, youngest.PID != 0
}
