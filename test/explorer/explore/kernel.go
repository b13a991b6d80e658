package explore

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Kernel says what is different if the lock is a file of one machine. The kernel knows who has
// the file open, keeps locks on it, and has a queue of sleeping threads for each file.
type Kernel struct {
	// Seats is how many may watch the lock. The others sleep in the queue.
	Seats int
}

// kernel answers a process that asks the kernel for something.
func (s stepper) kernel() {
	s.answer(noFault, s.askKernel)
}

func (s stepper) askKernel(c *world) reply {
	m, p := &c.machine, s.p
	if s.op.kind != opRemove {
		c.procs[p].saw = 0
	}
	switch s.op.kind {
	case opMake:
		if m.lock != 0 {
			return failed(unix.EEXIST)
		}
		return m.open(p, m.make(p, c.now))
	case opOpenLock:
		if m.lock == 0 {
			return failed(unix.ENOENT)
		}
		return m.open(p, m.lock)
	case opByHand:
		s.removeByHand(c)
		return reply{}
	}
	return s.callOn(c, m.at(p, s.op.subject))
}

// callOn answers a call on an open file.
func (s stepper) callOn(c *world, o *opened) reply {
	m, f := &c.machine, c.machine.file(o.file)
	switch s.op.kind {
	case opSize, opText:
		v := view{number: uint32(f.number), stamp: f.stamp, links: int32(len(s.names.texts[f.content]))}
		if s.op.kind == opText {
			v.content = f.content
		}
		return ok(s.names.view(v))
	case opFill:
		f.content, f.stamp = s.op.to, c.now
		s.wake(c, s.p)
	case opStamp:
		f.stamp = c.now
	case opFlock:
		if !o.locked && m.isLocked(o.file) {
			return failed(unix.EWOULDBLOCK)
		}
		o.locked = true
	case opNamed:
		if m.lock != o.file {
			return failed(unix.ENOENT)
		}
		c.procs[s.p].saw = text(o.file)
	case opRemove:
		return s.removeLock(c, o.file)
	case opShut:
		wrote := int(f.maker) == s.p
		m.opened = slices.DeleteFunc(m.opened, func(x opened) bool { return x == *o })
		m.tidy()
		if wrote {
			s.wake(c, s.p)
		}
	case opSit:
		o.seated = m.seated(o.file) < s.Config.Kernel.Seats
		return ok(int64(b2i(o.seated)))
	case opQueue:
		m.asleep = append(m.asleep, thread{o.process, o.fd})
	}
	return reply{}
}

// removeLock removes the file at the lock's path, which should be the given file. Nobody may hold
// the lock by the removed file.
func (s stepper) removeLock(c *world, file uint8) reply {
	if c.machine.lock == 0 {
		return failed(unix.ENOENT)
	}
	switch p := s.holder(c); {
	case p < 0, p == s.p:
	case c.machine.lock != file && c.procs[s.p].saw == text(file): // it was the lock when this process looked
		c.violated("%s removes the lock of %s, %s", s.title(s.p), s.title(p), Meanwhile)
	default:
		c.violated("%s removes the lock of %s, which is alive", s.title(s.p), s.title(p))
	}
	s.gone(c)
	return reply{}
}

func (s stepper) gone(c *world) {
	c.machine.lock = 0
	c.machine.tidy()
	s.wake(c, s.p)
}

// holder is the process that holds the lock by the file at the lock's path; -1: none.
func (x *Explorer) holder(c *world) int {
	m := &c.machine
	for _, o := range m.opened {
		if p := int(o.process); o.file == m.lock && o.locked && c.procs[p].holding && int(m.file(o.file).maker) == p {
			return p
		}
	}
	return -1
}

func (s stepper) removeByHand(c *world) {
	if c.machine.lock == 0 {
		return
	}
	if p := s.holder(c); p >= 0 {
		s.condemn(c, p, c.procs[p].serial)
	}
	s.gone(c)
}

// give lets the kernel give its lock to a sleeping thread. The process finds out when it next
// asks the kernel for something.
func (x *Explorer) give(w *world, i int, emit func(*world)) {
	if !w.machine.next(i) {
		return
	}
	c := x.copy(w)
	defer x.drop(c)
	t := c.machine.asleep[i]
	c.machine.asleep = slices.Delete(c.machine.asleep, i, i+1)
	c.machine.at(int(t.process), int8(t.fd)).locked = true
	q := &c.procs[t.process]
	q.given = t.fd
	q.awake = q.awake || x.op(c, int(t.process)).kind == opRest
	c.action = action{kind: gave, process: int(t.process), op: op{subject: int8(t.fd)}}
	emit(c)
}

// exit closes everything that a process has open.
func (x *Explorer) exit(c *world, p int) {
	if x.Config.Kernel == nil {
		return
	}
	m := &c.machine
	m.opened = slices.DeleteFunc(m.opened, func(o opened) bool { return int(o.process) == p })
	m.asleep = slices.DeleteFunc(m.asleep, func(t thread) bool { return int(t.process) == p })
	c.procs[p].given = 0
	m.tidy()
	x.wake(c, p)
}

// checkLocks: a process that has released the lock, or ends, has no kernel lock but one that it
// was just given.
func (x *Explorer) checkLocks(c *world, p int) {
	for _, o := range c.machine.opened {
		if int(o.process) == p && o.locked && o.fd != c.procs[p].given {
			c.violated("%s keeps the kernel lock of file %d for nothing", x.title(p), o.file)
		}
	}
}

// Stopped is the text of a violation that is a known limit: the file of a dead holder can be
// removed only with its kernel lock.
const Stopped = "which is stopped with the kernel lock of a dead one's file"

// mayStop reports whether a process may be stopped for good without keeping the others from the
// lock. It may not if it has the kernel lock of the file that is the lock.
func (x *Explorer) mayStop(w *world, p int) bool {
	q := &w.procs[p]
	if x.Config.Kernel == nil || q.crashed || q.absent || x.op(w, p).kind == opDone {
		return false
	}
	return !x.blocks(w, p) || x.Config.Limit == Stopped && !x.made(w, p)
}

// blocks reports whether a process has the kernel lock of the file that is the lock.
func (x *Explorer) blocks(w *world, p int) bool {
	return slices.ContainsFunc(w.machine.opened, func(o opened) bool { return int(o.process) == p && o.locked && o.file == w.machine.lock })
}

// made reports whether a process has made the file that is the lock.
func (x *Explorer) made(w *world, p int) bool {
	return w.machine.lock != 0 && int(w.machine.file(w.machine.lock).maker) == p
}

// letOthersFinish is letFinish while process p is stopped. Stopping takes the thread of p out of
// the kernel's queue.
func (x *Explorer) letOthersFinish(w *world, p int, tell bool) ending {
	e := &ending{tell: tell}
	c := x.calm(w, e)
	q := &c.procs[p]
	q.stopped = true
	c.machine.asleep = slices.DeleteFunc(c.machine.asleep, func(t thread) bool { return int(t.process) == p })
	before := x.blocks(c, p) && !x.made(c, p)
	c = x.takeTurns(c, e)
	if who := x.waiting(c); before && who != "" {
		e.wrong = fmt.Sprintf("%s waits for %s, %s", who, x.title(p), Stopped)
	}
	return *e
}

// unwoken says who sleeps though the lock is free, if only time would wake them.
func (x *Explorer) unwoken(c *world) string {
	stopped := slices.ContainsFunc(c.procs, func(q proc) bool { return q.stopped })
	if x.Config.Kernel == nil || c.machine.lock != 0 || stopped {
		return ""
	}
	if who := x.waiting(c); who != "" {
		return fmt.Sprintf("the lock is free, and nobody wakes %s", who)
	}
	return ""
}
