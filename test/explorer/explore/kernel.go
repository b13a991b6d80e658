//go:build unix

package explore

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
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

func (s stepper) askKernel(c *world) steps.Reply {
	m, p := &c.machine, s.p
	if s.op.Kind != steps.OpRemove {
		c.procs[p].saw = 0
	}
	switch s.op.Kind {
	case steps.OpMake:
		if m.Lock != 0 {
			return steps.Failed(unix.EEXIST)
		}
		return m.Open(p, m.Make(p, c.now))
	case steps.OpOpenLock:
		if m.Lock == 0 {
			return steps.Failed(unix.ENOENT)
		}
		return m.Open(p, m.Lock)
	case steps.OpByHand:
		s.removeByHand(c)
		return steps.Reply{}
	}
	return s.callOn(c, m.At(p, s.op.Subject))
}

// callOn answers a call on an open file.
func (s stepper) callOn(c *world, o *places.Opened) steps.Reply {
	m, f := &c.machine, c.machine.File(o.File)
	switch s.op.Kind {
	case steps.OpSize, steps.OpText:
		v := steps.View{Number: uint32(f.Number), Stamp: f.Stamp, Links: int32(len(s.names.Texts[f.Content]))}
		if s.op.Kind == steps.OpText {
			v.Content = f.Content
		}
		return steps.OK(s.names.View(v))
	case steps.OpFill:
		f.Content, f.Stamp = s.op.To, c.now
		s.wake(c, s.p)
	case steps.OpStamp:
		f.Stamp = c.now
	case steps.OpFlock:
		if !o.Locked && m.IsLocked(o.File) {
			return steps.Failed(unix.EWOULDBLOCK)
		}
		o.Locked = true
	case steps.OpNamed:
		if m.Lock != o.File {
			return steps.Failed(unix.ENOENT)
		}
		c.procs[s.p].saw = steps.Text(o.File)
	case steps.OpRemove:
		return s.removeLock(c, o.File)
	case steps.OpShut:
		wrote := int(f.Maker) == s.p
		m.Opened = slices.DeleteFunc(m.Opened, func(x places.Opened) bool { return x == *o })
		m.Tidy()
		if wrote {
			s.wake(c, s.p)
		}
	case steps.OpSit:
		o.Seated = m.Seated(o.File) < s.Config.Kernel.Seats
		return steps.OK(int64(steps.Bit(o.Seated)))
	case steps.OpQueue:
		m.Asleep = append(m.Asleep, places.Thread{Process: o.Process, FD: o.FD})
	}
	return steps.Reply{}
}

// removeLock removes the file at the lock's path, which should be the given file. Nobody may hold
// the lock by the removed file.
func (s stepper) removeLock(c *world, file uint8) steps.Reply {
	if c.machine.Lock == 0 {
		return steps.Failed(unix.ENOENT)
	}
	switch p := s.holder(c); {
	case p < 0, p == s.p:
	case c.machine.Lock != file && c.procs[s.p].saw == steps.Text(file): // it was the lock when this process looked
		c.violated("%s removes the lock of %s, %s", s.title(s.p), s.title(p), Meanwhile)
	default:
		c.violated("%s removes the lock of %s, which is alive", s.title(s.p), s.title(p))
	}
	s.gone(c)
	return steps.Reply{}
}

func (s stepper) gone(c *world) {
	c.machine.Lock = 0
	c.machine.Tidy()
	s.wake(c, s.p)
}

// holder is the process that holds the lock by the file at the lock's path; -1: none.
func (x *Explorer) holder(c *world) int {
	m := &c.machine
	for _, o := range m.Opened {
		if p := int(o.Process); o.File == m.Lock && o.Locked && c.procs[p].holding && int(m.File(o.File).Maker) == p {
			return p
		}
	}
	return -1
}

// Unfinished is the text of a violation: one try must be enough where nobody has the lock.
const Unfinished = "though the maker of the lock file died before it wrote its record"

// unfinished reports whether the lock is a file without a record, whose maker has crashed, and which
// nobody has open.
func (x *Explorer) unfinished(c *world) bool {
	m := &c.machine
	if x.Config.Kernel == nil || m.Lock == 0 || slices.ContainsFunc(m.Opened, func(o places.Opened) bool { return o.File == m.Lock }) {
		return false
	}
	f := m.File(m.Lock)
	return f.Content == 0 && c.procs[f.Maker].crashed
}

func (s stepper) removeByHand(c *world) {
	if c.machine.Lock == 0 {
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
	if !w.machine.Next(i) {
		return
	}
	c := x.copy(w)
	defer x.drop(c)
	t := c.machine.Asleep[i]
	c.machine.Asleep = slices.Delete(c.machine.Asleep, i, i+1)
	c.machine.At(int(t.Process), int8(t.FD)).Locked = true
	q := &c.procs[t.Process]
	q.given = t.FD
	q.awake = q.awake || x.op(c, int(t.Process)).Kind == steps.OpRest
	c.action = action{kind: gave, process: int(t.Process), op: steps.Op{Subject: int8(t.FD)}}
	emit(c)
}

// exit closes everything that a process has open.
func (x *Explorer) exit(c *world, p int) {
	if x.Config.Kernel == nil {
		return
	}
	m := &c.machine
	m.Opened = slices.DeleteFunc(m.Opened, func(o places.Opened) bool { return int(o.Process) == p })
	m.Asleep = slices.DeleteFunc(m.Asleep, func(t places.Thread) bool { return int(t.Process) == p })
	c.procs[p].given = 0
	m.Tidy()
	x.wake(c, p)
}

// checkLocks: a process that has released the lock, or ends, has no kernel lock but one that it
// was just given.
func (x *Explorer) checkLocks(c *world, p int) {
	for _, o := range c.machine.Opened {
		if int(o.Process) == p && o.Locked && o.FD != c.procs[p].given {
			c.violated("%s keeps the kernel lock of file %d for nothing", x.title(p), o.File)
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
	if x.Config.Kernel == nil || q.crashed || q.absent || x.op(w, p).Kind == steps.OpDone {
		return false
	}
	return !x.blocks(w, p) || x.Config.Limit == Stopped && !x.made(w, p)
}

// blocks reports whether a process has the kernel lock of the file that is the lock.
func (x *Explorer) blocks(w *world, p int) bool {
	return slices.ContainsFunc(w.machine.Opened, func(o places.Opened) bool { return int(o.Process) == p && o.Locked && o.File == w.machine.Lock })
}

// made reports whether a process has made the file that is the lock.
func (x *Explorer) made(w *world, p int) bool {
	return w.machine.Lock != 0 && int(w.machine.File(w.machine.Lock).Maker) == p
}

// letOthersFinish is letFinish while process p is stopped. Stopping takes the thread of p out of
// the kernel's queue.
func (x *Explorer) letOthersFinish(w *world, p int, tell bool) ending {
	e := &ending{tell: tell}
	c := x.calm(w, e)
	q := &c.procs[p]
	q.stopped = true
	c.machine.Asleep = slices.DeleteFunc(c.machine.Asleep, func(t places.Thread) bool { return int(t.Process) == p })
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
	if x.Config.Kernel == nil || c.machine.Lock != 0 || stopped {
		return ""
	}
	if who := x.waiting(c); who != "" {
		return fmt.Sprintf("the lock is free, and nobody wakes %s", who)
	}
	return ""
}
