package explore

import "golang.org/x/sys/unix"

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
		percent[i] *= millis(x.Config.Lease) / 100
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
	c.action = action{kind: jumped, op: op{wait: x.jumps()[i]}}
	x.readClocks(c, emit)
}

// pass lets time pass.
func (x *Explorer) pass(c *world, ms int32) {
	c.now += ms
	for p := range c.procs {
		q := &c.procs[p]
		q.asksLate = false
		q.awake = q.awake || x.op(c, p).kind == opRest
		x.rouse(c, p)
		if q.valid && !x.lasting(p) && c.now >= q.confirmed+millis(x.roles[p].Lease) {
			q.valid = false // it knows that by its own clock
		}
	}
}

func (x *Explorer) crash(w *world, p int, emit func(*world)) {
	q := &w.procs[p]
	if w.left.Crashes == 0 || q.crashed || q.absent || x.roles[p].Sturdy || x.op(w, p).kind == opDone {
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
		if o := x.op(c, i); o.kind == opJudge && int(o.subject) == p {
			c.procs[i].asksLate = false
		}
	}
	x.wake(c, p)
}

// repeat lets the server execute a request again, or a delayed one for the first time.
func (x *Explorer) repeat(w *world, i int, emit func(*world)) {
	c := x.copy(w)
	defer x.drop(c)
	d := c.dups[i]
	c.dups = append(c.dups[:i], c.dups[i+1:]...)
	alive, sign := x.alive(d.op), int32(lapsed)
	if e := c.tree.get(alive); e != nil && (alive != d.op.name || x.Config.Objects != nil) {
		sign = e.sign
	}
	x.checkLate(c, d)
	r := x.serve(c, d.op)
	if r.err == 0 {
		x.own(c, int(d.from), d.op, true)
		x.wake(c, -1)
	}
	if r.err == 0 && d.op.creates() && x.Config.Files == nil {
		// The repeated request is nobody's sign of life: a process that meant the earlier entry
		// may remove this one.
		c.tree.get(d.op.name).sign = lapsed
	}
	if r.err == 0 && d.op.kind != opTouch {
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
	if h.misses(s.names, s.from.tree, s.op) {
		s.stale(failed(unix.ENOENT))
	}
	if old, found := h.outdated(s.from.tree, s.op); found {
		s.stale(ok(int64(old)))
	}
	if old := h.page(s.op.name); s.op.kind == opList && old != 0 && ok(int64(old)) != s.from.tree.list(s.names, s.op.name) {
		s.stale(ok(int64(old)))
	}
}

func (s stepper) stale(r reply) {
	s.answer(outdated, func(c *world) reply {
		if c.left.Stale > 0 {
			c.left.Stale--
		}
		return r
	})
}

// lost emits the answers when the network or the server fails.
func (s stepper) lost() {
	if s.from.left.Lost == 0 || s.op.kind == opUnpin {
		return
	}
	s.answer(lostRequest, func(c *world) reply {
		c.left.Lost--
		s.given(c, s.p, s.op)
		return failed(unix.EIO)
	})
	s.forgotten()
	if !s.op.changes() {
		return
	}
	s.answer(lostReply, func(c *world) reply { c.left.Lost--; s.carryOut(c, true); return failed(unix.EIO) })
	if s.session() {
		s.delayed()
		return
	}
	if s.Config.Objects != nil && s.op.kind != opPutNew {
		return // the repeated request gets the answer that the first one would have got
	}
	s.answer(crashedReply, func(c *world) reply {
		c.left.Lost--
		if r := s.carryOut(c, true); r.err != 0 || s.op.patient() {
			return r
		}
		if s.proves(s.p, s.op) {
			c.procs[s.p].touched = c.procs[s.p].sent // a listing will show it
		}
		return failed(s.op.afterServerCrash())
	})
}

// foreign emits the answers of something before the store, which says that there is no such
// object.
func (s stepper) foreign() {
	if s.from.left.Foreign == 0 {
		return
	}
	s.answer(foreign, func(c *world) reply {
		c.left.Foreign--
		if m := s.names.makers[s.op.name]; s.Config.Objects.Forgets && s.op.kind == opGet && s.isEntry(s.op.name) && m.process != s.p {
			return failed(unix.ENOENT)
		}
		return failed(unix.ENXIO)
	})
	if s.op.changes() {
		s.answer(foreignReply, func(c *world) reply { c.left.Foreign--; s.carryOut(c, true); return failed(unix.ENXIO) })
	}
}

// repeated emits requests that the server will execute once more.
func (s stepper) repeated() {
	if s.from.left.Dups == 0 || !s.op.changes() || s.session() {
		return
	}
	if !s.indefensible(s.op) {
		s.answer(duplicated, func(c *world) reply {
			c.left.Dups--
			c.dups = append(c.dups, s.sent(c))
			return s.learned(c, s.execute(c))
		})
	}
	if s.from.left.Lost > 0 && (s.Config.Files == nil || !s.indefensible(s.op)) {
		s.delayed()
	}
}

// delayed emits a request that is given up now and executed later.
func (s stepper) delayed() {
	s.answer(delayed, func(c *world) reply {
		c.left.Lost--
		if !s.session() {
			c.left.Dups--
		}
		s.given(c, s.p, s.op)
		c.dups = append(c.dups, s.sent(c))
		return failed(unix.EIO)
	})
}

func (s stepper) session() bool {
	d := s.Config.Directories
	return d != nil && d.Session
}
