package explore

// A stepper makes all worlds that follow from a world when one process takes its step.
type stepper struct {
	*Explorer
	from *world
	p    int
	op   op
	emit func(*world)
}

func (x *Explorer) step(w *world, p int, emit func(*world)) {
	s := stepper{x, w, p, x.op(w, p), emit}
	switch {
	case !x.enabled(w, p):
	case s.op.kind == opWork, s.op.kind == opAwait, s.op.kind == opRest:
		s.answer(noFault, func(c *world) reply { c.procs[p].awake = false; return reply{} })
	case s.op.kind == opRecall:
		s.answer(noFault, func(c *world) reply { return ok(int64(c.memory)) })
	case s.op.kind == opRemember:
		s.answer(noFault, func(c *world) reply { c.memory = s.op.to; return reply{} })
	case s.op.kind >= opMake:
		s.kernel()
	case w.procs[p].scan != 0:
		s.endScan()
	default:
		s.server()
		s.cached()
		if !s.lucky() {
			s.lost()
			s.foreign()
			s.repeated()
		}
	}
}

// lucky reports whether the process is a tool of other people: what goes wrong with its requests
// is not ours to mend, so nothing does.
func (s stepper) lucky() bool { return s.Config.Files != nil && s.roles[s.p].Script }

// enabled reports whether process p can take its step.
func (x *Explorer) enabled(w *world, p int) bool {
	q := &w.procs[p]
	if q.crashed || q.absent || q.asksLate || q.stopped {
		return false
	}
	kind := x.op(w, p).kind
	return kind != opDone && (kind != opAwait && kind != opRest || q.awake)
}

func (x *Explorer) op(w *world, p int) op { return x.graphs[p].nodes[w.procs[p].node].op }

// answer emits the worlds that follow from an answer.
func (s stepper) answer(f fault, do func(*world) reply) {
	c := s.copy(s.from)
	defer s.drop(c)
	r := do(c)
	c.action = action{process: s.p, op: s.op, fault: f, reply: r}
	s.proceed(c, s.p, r)
	s.readClocks(c, s.emit)
}

// execute lets the server execute the step, and tells the others that something has changed.
func (s stepper) execute(c *world) reply {
	return s.carryOut(c, false)
}

// carryOut executes the step. doubt says that the process will not learn the outcome from the
// answer.
func (s stepper) carryOut(c *world, doubt bool) reply {
	s.checkRemoval(c, s.p, s.op)
	s.checkLock(c, s.p, s.op)
	s.checkID(c, s.p, s.op)
	r, local := s.pinned(c, s.p, s.op)
	if !local {
		r = s.serve(c, s.op)
	}
	if r.err == 0 || !s.op.changes() {
		s.noticed(c, s.p, s.op)
	}
	if r.err == 0 && s.op.changes() {
		s.own(c, s.p, s.op, doubt)
		if s.stirs(c, s.op) {
			s.wake(c, s.p)
		}
	}
	return r
}

// serve lets the server execute a request. A sign of life after a whole lease of silence does not
// count, because somebody may have decided already.
func (x *Explorer) serve(c *world, o op) reply {
	if x.Config.Files != nil {
		return x.serveFile(c, o)
	}
	if x.Config.Objects != nil {
		return x.serveObject(c, o)
	}
	if r, strange := x.Config.Directories.answer(x.names, c.tree, o); strange {
		return r
	}
	alive := x.alive(o)
	late := alive != 0 && x.silent(c, alive)
	r := c.tree.do(x.names, o, c.now)
	switch {
	case r.err != 0:
	case late:
		x.vital(c, alive, lapsed)
	case alive != 0:
		x.vital(c, alive, c.now)
	case o.renames() && x.Config.Directories != nil:
		x.arrived(c, o)
	}
	return r
}

// wake lets all processes but p see that something has changed.
func (x *Explorer) wake(c *world, p int) {
	for i := range c.procs {
		if i != p {
			x.rouse(c, i)
		}
	}
}

// rouse wakes a process. A process that has ended has nothing to see.
func (x *Explorer) rouse(c *world, p int) {
	q := &c.procs[p]
	if kind := x.op(c, p).kind; kind != opRest { // only the kernel's queue, or time, ends an opRest
		q.awake = !q.crashed && kind != opDone
	}
}

func (s stepper) host(c *world) *host { return &c.hosts[s.roles[s.p].Host.Number] }

// server emits the ordinary answer. A listing may also be read in two halves.
func (s stepper) server() {
	s.answer(noFault, func(c *world) reply { return s.learned(c, s.execute(c)) })
	if s.op.kind == opList && s.from.left.Torn > 0 && (s.Config.Objects != nil || s.from.tree.has(s.op.name)) {
		c := s.copy(s.from)
		defer s.drop(c)
		c.left.Torn--
		c.procs[s.p].scan = s.firstHalf(c)
		c.action = action{process: s.p, op: s.op, fault: tornBegin}
		s.emit(c)
	}
}

// learned puts the answer into the host's cache.
func (s stepper) learned(c *world, r reply) reply {
	if s.caches() {
		s.host(c).learn(s.names, s.op, r, s.Config.Tick)
	}
	return r
}

// firstHalf is what exists when a listing begins.
func (s stepper) firstHalf(c *world) listing {
	if s.Config.Objects != nil {
		return s.names.listing(s.objectsAfter(c, s.op.name))
	}
	return listing(c.tree.list(s.names, s.op.name).value)
}

// endScan is the second half of a listing. What exists in both halves is shown. Each of the other
// names may be shown or not.
func (s stepper) endScan() {
	if s.Config.Objects != nil {
		s.endPage()
		return
	}
	first := s.names.listings[s.from.procs[s.p].scan]
	second := s.from.tree.children(s.names, s.op.name)
	both, either := compare(first, second)
	for _, some := range subsets(either) {
		s.answer(tornEnd, func(c *world) reply {
			c.procs[s.p].scan = 0
			return s.learned(c, ok(int64(s.names.listing(merge(both, some)))))
		})
	}
}

// proves reports whether a request, if it succeeds, proves that p's entry exists.
func (x *Explorer) proves(p int, o op) bool {
	return o.kind == opTouch || (o.kind == opTouchFile || o.kind == opPut) && x.names.makers[o.name].process == p || o.changes() && x.Config.Directories != nil && x.names.makers[x.alive(o)].process == p
}

// proceed gives process p its answer, and notes what p did because of it.
func (x *Explorer) proceed(c *world, p int, r reply) {
	q := &c.procs[p]
	o := x.op(c, p)
	if r.err == 0 && x.proves(p, o) {
		q.touched = q.sent
	}
	if r.err != 0 && o.kind == opPut && x.isEntry(o.name) {
		q.made = x.names.makers[o.name].serial
	}
	r.given, q.given = q.given != 0, 0
	e := x.graphs[p].follow(q.node, r)
	q.node, q.sent = e.to, 0
	switch next := x.op(c, p); {
	case x.proves(p, next):
		q.sent = c.now
	case next.kind == opRest:
		q.awake = false
	case next.kind == opDone:
		q.awake, q.touched, q.confirmed = false, 0, 0
	}
	for _, n := range e.notes {
		x.heed(c, p, n)
	}
	if x.op(c, p).kind == opDone {
		x.checkLocks(c, p)
		x.exit(c, p)
	}
}

// readClocks answers the questions whose answer only a jump of time or a crash can change. Asking
// at once is the same as asking at any moment before the next such event. So a process either
// asks at once or sleeps over the event.
func (x *Explorer) readClocks(c *world, emit func(*world)) {
	for p := range c.procs {
		q := &c.procs[p]
		o := x.op(c, p)
		if q.crashed || q.asksLate || q.absent || o.kind < opNow || o.kind > opJudge {
			continue
		}
		if x.sleeps(c, o) {
			d := x.copy(c)
			d.action, d.wrong = c.action, c.wrong
			d.procs[p].asksLate = true
			x.readClocks(d, emit)
			x.drop(d)
		}
		x.proceed(c, p, x.reading(c, p, o))
		x.readClocks(c, emit)
		return
	}
	emit(c)
}

func (x *Explorer) sleeps(c *world, o op) bool {
	switch o.kind {
	case opNow:
		return !x.Config.Prompt && c.left.Short+c.left.Half+c.left.Full > 0
	case opJudge:
		return c.left.Crashes > 0 && !c.procs[o.subject].crashed
	}
	return false // the wall clock is only for people
}

func (x *Explorer) reading(c *world, p int, o op) reply {
	if o.kind != opJudge {
		return ok(int64(c.now))
	}
	r := x.roles[p]
	switch {
	case r.Misjudges && int(o.subject) != p:
		return ok(2)
	case x.roles[o.subject].Host.Number != r.Host.Number && !(r.Cleaner && (x.plain() || x.Config.Files != nil || x.Config.Kernel != nil)):
		return ok(0)
	case c.procs[o.subject].crashed:
		return ok(2)
	}
	return ok(1)
}
