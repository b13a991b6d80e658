//go:build unix

package explore

import (
	"golang.org/x/sys/unix"

	"locksmith/test/explorer/steps"
)

// A fault is what the adversary did to a request.
type fault uint8

const (
	noFault      fault = iota
	outdated           // answered from the host's cache
	lostRequest        // not executed, answered EIO
	lostReply          // executed, answered EIO
	crashedReply       // executed, then the server crashed: the answer is that to the repeated request
	duplicated         // executed now, and once more later
	delayed            // answered EIO, and executed later
	tornBegin          // the first half of a listing
	tornEnd            // the second
	foreign            // not executed; something before the store answers that there is no such object
	foreignReply       // executed, with the same answer
)

// jumps are how far time jumps, as parts of the lease: enough to outlast the fairness delay, a
// bit more than half, and a bit more than a whole lease.
func (x *Explorer) jumps() [3]int32 {
	percent := x.Config.Jumps
	if percent == [3]int32{} {
		percent = [3]int32{20, 52, 102}
	}
	for i := range percent {
		percent[i] *= steps.Millis(x.Config.Lease) / 100
	}
	return percent
}

func (b *Budget) jump(i int) *int { return []*int{&b.Short, &b.Half, &b.Full}[i] }

func (x *Explorer) jump(w *world, i int, emit func(*world)) {
	if *w.left.jump(i) == 0 {
		return
	}
	c := x.copy(w)
	defer x.drop(c)
	*c.left.jump(i)--
	x.pass(c, x.jumps()[i])
	c.action = action{kind: jumped, op: steps.Op{Wait: x.jumps()[i]}}
	x.readClocks(c, emit)
}

// pass lets time pass.
func (x *Explorer) pass(c *world, ms int32) {
	c.now += ms
	for p := range c.procs {
		q := &c.procs[p]
		q.asksLate = false
		q.awake = q.awake || x.op(c, p).Kind == steps.OpRest
		x.rouse(c, p)
		if q.valid && !x.lasting(p) && c.now >= q.confirmed+steps.Millis(x.roles[p].Lease) {
			q.valid = false // it knows that by its own clock
		}
	}
}

func (x *Explorer) crash(w *world, p int, emit func(*world)) {
	q := &w.procs[p]
	if w.left.Crashes == 0 || q.crashed || q.absent || x.roles[p].Sturdy || x.op(w, p).Kind == steps.OpDone {
		return
	}
	c := x.copy(w)
	defer x.drop(c)
	c.left.Crashes--
	x.kill(c, p)
	c.action = action{kind: crashed, process: p}
	x.readClocks(c, emit)
}

func (x *Explorer) kill(c *world, p int) {
	c.procs[p] = proc{node: c.procs[p].node, crashed: true}
	x.exit(c, p)
	for i := range c.procs {
		if o := x.op(c, i); o.Kind == steps.OpJudge && int(o.Subject) == p {
			c.procs[i].asksLate = false
		}
	}
	x.wake(c, p)
}

// repeat lets the server execute a request again, or a delayed one for the first time.
func (x *Explorer) repeat(w *world, i int, emit func(*world)) {
	c := x.copy(w)
	defer x.drop(c)
	d := c.pending[i]
	c.pending = append(c.pending[:i], c.pending[i+1:]...)
	alive, sign := x.alive(d.op), int32(lapsed)
	if e := c.tree.Get(alive); e != nil && (alive != d.op.Name || x.Config.Objects != nil) {
		sign = e.Sign
	}
	x.checkLate(c, d)
	r := x.serve(c, d.op)
	if r.Err == 0 {
		x.own(c, int(d.from), d.op, true)
		x.wake(c, -1)
	}
	if r.Err == 0 && d.op.Creates() && x.Config.Files == nil {
		// The repeated request is nobody's sign of life: a process that meant the earlier entry
		// may remove this one.
		c.tree.Get(d.op.Name).Sign = lapsed
	}
	if r.Err == 0 && d.op.Kind != steps.OpTouch {
		x.vital(c, alive, sign)
	}
	c.action = action{kind: repeated, process: int(d.from), op: d.op, reply: r}
	emit(c)
}

// cached emits the answers of an outdated cache.
func (s stepper) cached() {
	if !s.caches() || s.from.left.Stale == 0 {
		return
	}
	h := s.host(s.from)
	if h.Misses(s.names, s.from.tree, s.op) {
		s.stale(steps.Failed(unix.ENOENT))
	}
	if old, found := h.Outdated(s.from.tree, s.op); found {
		s.stale(steps.OK(int64(old)))
	}
	if old := h.Page(s.op.Name); s.op.Kind == steps.OpList && old != 0 && steps.OK(int64(old)) != s.from.tree.List(s.names, s.op.Name) {
		s.stale(steps.OK(int64(old)))
	}
}

func (s stepper) stale(r steps.Reply) {
	s.answer(outdated, func(c *world) steps.Reply {
		if c.left.Stale > 0 {
			c.left.Stale--
		}
		return r
	})
}

// lost emits the answers when the network or the server fails.
func (s stepper) lost() {
	if s.from.left.Lost == 0 || s.op.Kind == steps.OpUnpin {
		return
	}
	s.answer(lostRequest, func(c *world) steps.Reply {
		c.left.Lost--
		s.given(c, s.p, s.op)
		return steps.Failed(unix.EIO)
	})
	s.forgotten()
	if !s.op.Changes() {
		return
	}
	s.answer(lostReply, func(c *world) steps.Reply { c.left.Lost--; s.carryOut(c, true); return steps.Failed(unix.EIO) })
	if s.session() {
		s.delayed()
		return
	}
	if s.Config.Objects != nil && s.op.Kind != steps.OpPutNew {
		return // the repeated request gets the answer that the first one would have got
	}
	s.answer(crashedReply, func(c *world) steps.Reply {
		c.left.Lost--
		if r := s.carryOut(c, true); r.Err != 0 || s.op.Patient() {
			return r
		}
		if s.proves(s.p, s.op) {
			c.procs[s.p].touched = c.procs[s.p].sent // a listing will show it
		}
		return steps.Failed(s.op.AfterServerCrash())
	})
}

// foreign emits the answers of something before the store, which says that there is no such
// object.
func (s stepper) foreign() {
	if s.from.left.Foreign == 0 {
		return
	}
	s.answer(foreign, func(c *world) steps.Reply {
		c.left.Foreign--
		if m := s.names.Makers[s.op.Name]; s.Config.Objects.Forgets && s.op.Kind == steps.OpGet && s.isEntry(s.op.Name) && m.Process != s.p {
			return steps.Failed(unix.ENOENT)
		}
		return steps.Failed(unix.ENXIO)
	})
	if s.op.Changes() {
		s.answer(foreignReply, func(c *world) steps.Reply { c.left.Foreign--; s.carryOut(c, true); return steps.Failed(unix.ENXIO) })
	}
}

// repeated emits requests that the server will execute once more.
func (s stepper) repeated() {
	if s.from.left.Dups == 0 || !s.op.Changes() || s.session() {
		return
	}
	if !s.indefensible(s.op) {
		s.answer(duplicated, func(c *world) steps.Reply {
			c.left.Dups--
			c.pending = append(c.pending, s.sent(c))
			return s.learned(c, s.execute(c))
		})
	}
	if s.from.left.Lost > 0 && (s.Config.Files == nil || !s.indefensible(s.op)) {
		s.delayed()
	}
}

// delayed emits a request that is given up now and executed later.
func (s stepper) delayed() {
	s.answer(delayed, func(c *world) steps.Reply {
		c.left.Lost--
		if !s.session() {
			c.left.Dups--
		}
		s.given(c, s.p, s.op)
		c.pending = append(c.pending, s.sent(c))
		return steps.Failed(unix.EIO)
	})
}

func (s stepper) session() bool {
	d := s.Config.Directories
	return d != nil && d.Session
}
