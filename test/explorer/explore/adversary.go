package explore

// What the adversary does by itself; what it does to a request is in step.go.

// jumps are how far time jumps, in parts of the lease: enough to end a courtesy, a
// bit more than half, a bit more than a whole.
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
	c.deed = deed{kind: jumped, op: op{wait: x.jumps()[i]}}
	x.readClocks(c, emit)
}

// pass lets time pass.
func (x *Explorer) pass(c *world, ms int32) {
	c.now += ms
	for p := range c.procs {
		q := &c.procs[p]
		q.asleep = false
		x.rouse(c, p)
		if q.valid && !x.lasting(p) && c.now >= q.confirmed+millis(x.roles[p].Lease) {
			q.valid = false // it knows by its own clock
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
	c.deed = deed{kind: crashed, process: p}
	x.readClocks(c, emit)
}

func (x *Explorer) kill(c *world, p int) {
	c.procs[p] = proc{node: c.procs[p].node, crashed: true}
	for i := range c.procs {
		if o := x.op(c, i); o.kind == opJudge && int(o.subject) == p {
			c.procs[i].asleep = false
		}
	}
	x.wake(c, p)
}

// repeat lets the server execute a request a second time.
func (x *Explorer) repeat(w *world, i int, emit func(*world)) {
	c := x.copy(w)
	defer x.drop(c)
	d := c.dups[i]
	c.dups = append(c.dups[:i], c.dups[i+1:]...)
	alive, sign := x.alive(d.op), int32(lapsed)
	if e := c.tree.get(alive); e != nil && alive != d.op.name {
		sign = e.sign
	}
	x.checkLate(c, d)
	r := x.serve(c, d.op)
	if r.err == 0 {
		x.own(c, int(d.from), d.op, true)
		x.wake(c, -1)
	}
	if r.err == 0 && d.op.creates() && x.Config.Files == nil {
		// Nobody's sign of life: whoever meant the one before may remove it.
		c.tree.get(d.op.name).sign = lapsed
	}
	if r.err == 0 && d.op.kind != opTouch {
		x.vital(c, alive, sign)
	}
	c.deed = deed{kind: repeated, process: int(d.from), op: d.op, reply: r}
	emit(c)
}
