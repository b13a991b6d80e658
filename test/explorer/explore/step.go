//go:build unix

package explore

import (
	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// A stepper makes all worlds that follow from a world when one process takes its step.
type stepper struct {
	*Explorer
	from *world
	p    int
	op   steps.Op
	emit func(*world)
}

func (x *Explorer) step(w *world, p int, emit func(*world)) {
	s := stepper{x, w, p, x.op(w, p), emit}
	switch {
	case !x.enabled(w, p):
	case s.op.Kind == steps.OpWork, s.op.Kind == steps.OpAwait, s.op.Kind == steps.OpRest:
		s.answer(noFault, func(c *world) steps.Reply { c.procs[p].awake = false; return steps.Reply{} })
	case s.op.Kind == steps.OpRecall:
		s.answer(noFault, func(c *world) steps.Reply { return steps.OK(int64(c.memory)) })
	case s.op.Kind == steps.OpRemember:
		s.answer(noFault, func(c *world) steps.Reply { c.memory = s.op.To; return steps.Reply{} })
	case s.op.Kind >= steps.OpMake:
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
	kind := x.op(w, p).Kind
	return kind != steps.OpDone && (kind != steps.OpAwait && kind != steps.OpRest || q.awake)
}

func (x *Explorer) op(w *world, p int) steps.Op { return x.graphs[p].Op(w.procs[p].node) }

// answer emits the worlds that follow from an answer.
func (s stepper) answer(f fault, do func(*world) steps.Reply) {
	c := s.copy(s.from)
	defer s.drop(c)
	r := do(c)
	c.action = action{process: s.p, op: s.op, fault: f, reply: r}
	s.proceed(c, s.p, r)
	s.readClocks(c, s.emit)
}

// execute lets the server execute the step, and tells the others that something has changed.
func (s stepper) execute(c *world) steps.Reply {
	return s.carryOut(c, false)
}

// carryOut executes the step. doubt says that the process will not learn the outcome from the
// answer.
func (s stepper) carryOut(c *world, doubt bool) steps.Reply {
	s.checkRemoval(c, s.p, s.op)
	s.checkLock(c, s.p, s.op)
	s.checkID(c, s.p, s.op)
	r, local := s.pinned(c, s.p, s.op)
	if !local {
		r = s.serve(c, s.op)
	}
	if r.Err == 0 || !s.op.Changes() {
		s.noticed(c, s.p, s.op)
	}
	if r.Err == 0 && s.op.Changes() {
		s.own(c, s.p, s.op, doubt)
		if s.stirs(c, s.op) {
			s.wake(c, s.p)
		}
	}
	return r
}

// serve lets the server execute a request. A sign of life after a whole lease of silence does not
// count, because somebody may have decided already.
func (x *Explorer) serve(c *world, o steps.Op) steps.Reply {
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
	r := c.tree.Do(x.names, o, c.now)
	switch {
	case r.Err != 0:
	case late:
		x.vital(c, alive, lapsed)
	case alive != 0:
		x.vital(c, alive, c.now)
	case o.Renames() && x.Config.Directories != nil:
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
	if kind := x.op(c, p).Kind; kind != steps.OpRest { // only the kernel's queue, or time, ends an OpRest
		q.awake = !q.crashed && kind != steps.OpDone
	}
}

func (s stepper) host(c *world) *places.Client { return &c.hosts[s.roles[s.p].Host.Number] }

// server emits the ordinary answer. A listing may also be read in two halves.
func (s stepper) server() {
	s.answer(noFault, func(c *world) steps.Reply { return s.learned(c, s.execute(c)) })
	if s.op.Kind == steps.OpList && s.from.left.Torn > 0 && (s.Config.Objects != nil || s.from.tree.Has(s.op.Name)) {
		c := s.copy(s.from)
		defer s.drop(c)
		c.left.Torn--
		c.procs[s.p].scan = s.firstHalf(c)
		c.action = action{process: s.p, op: s.op, fault: tornBegin}
		s.emit(c)
	}
}

// learned puts the answer into the host's cache.
func (s stepper) learned(c *world, r steps.Reply) steps.Reply {
	if s.caches() {
		s.host(c).Learn(s.names, s.op, r, s.Config.Tick)
	}
	return r
}

// firstHalf is what exists when a listing begins.
func (s stepper) firstHalf(c *world) steps.Listing {
	if s.Config.Objects != nil {
		return s.names.Listing(s.objectsAfter(c, s.op.Name))
	}
	return steps.Listing(c.tree.List(s.names, s.op.Name).Value)
}

// endScan is the second half of a listing. What exists in both halves is shown. Each of the other
// names may be shown or not.
func (s stepper) endScan() {
	if s.Config.Objects != nil {
		s.endPage()
		return
	}
	first := s.names.Listings[s.from.procs[s.p].scan]
	second := s.from.tree.Children(s.names, s.op.Name)
	both, either := compare(first, second)
	for _, some := range subsets(either) {
		s.answer(tornEnd, func(c *world) steps.Reply {
			c.procs[s.p].scan = 0
			return s.learned(c, steps.OK(int64(s.names.Listing(merge(both, some)))))
		})
	}
}

// proves reports whether a request, if it succeeds, proves that p's entry exists.
func (x *Explorer) proves(p int, o steps.Op) bool {
	return o.Kind == steps.OpTouch || (o.Kind == steps.OpTouchFile || o.Kind == steps.OpPut) && x.names.Makers[o.Name].Process == p || o.Changes() && x.Config.Directories != nil && x.names.Makers[x.alive(o)].Process == p
}

// proceed gives process p its answer, and notes what p did because of it.
func (x *Explorer) proceed(c *world, p int, r steps.Reply) {
	q := &c.procs[p]
	o := x.op(c, p)
	if r.Err == 0 && x.proves(p, o) {
		q.touched = q.sent
	}
	if r.Err != 0 && o.Kind == steps.OpPut && x.isEntry(o.Name) {
		q.made = x.names.Makers[o.Name].Serial
	}
	r.Given, q.given = q.given != 0, 0
	e := x.graphs[p].Follow(q.node, r)
	q.node, q.sent = e.To, 0
	switch next := x.op(c, p); {
	case x.proves(p, next):
		q.sent = c.now
	case next.Kind == steps.OpRest:
		q.awake = false
	case next.Kind == steps.OpDone:
		q.awake, q.touched, q.confirmed = false, 0, 0
	}
	for _, n := range e.Notes {
		x.heed(c, p, n)
	}
	if x.op(c, p).Kind == steps.OpDone {
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
		if q.crashed || q.asksLate || q.absent || o.Kind < steps.OpNow || o.Kind > steps.OpJudge {
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

func (x *Explorer) sleeps(c *world, o steps.Op) bool {
	switch o.Kind {
	case steps.OpNow:
		return !x.Config.Prompt && c.left.Short+c.left.Half+c.left.Full > 0
	case steps.OpJudge:
		return c.left.Crashes > 0 && !c.procs[o.Subject].crashed
	}
	return false // the wall clock is only for people
}

func (x *Explorer) reading(c *world, p int, o steps.Op) steps.Reply {
	if o.Kind != steps.OpJudge {
		return steps.OK(int64(c.now))
	}
	r := x.roles[p]
	switch {
	case r.Misjudges && int(o.Subject) != p:
		return steps.OK(2)
	case x.roles[o.Subject].Host.Number != r.Host.Number && !(r.Cleaner && (x.plain() || x.Config.Files != nil || x.Config.Kernel != nil)):
		return steps.OK(0)
	case c.procs[o.Subject].crashed:
		return steps.OK(2)
	}
	return steps.OK(1)
}
