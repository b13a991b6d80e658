//go:build unix

package explore

import (
	"fmt"
	"strings"

	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// An ending says how a world ended when everybody was let finish.
type ending struct {
	wrong string
	tell  bool // whether to describe the steps
	steps []string
}

// maxTurns limits the steps that all processes together need to finish.
const maxTurns = 6000

// letFinish stops all adversity. It lets everybody take turns, and lets time pass when all wait.
// Everybody must end. Then the cleaner comes. After that only the newest generations may be left.
func (x *Explorer) letFinish(w *world, tell bool) ending {
	e := &ending{tell: tell}
	c := x.takeTurns(x.calm(w, e), e)
	cleaner := len(c.procs) - 1
	if e.wrong == "" {
		c.procs[cleaner].absent = false
		c.action = action{kind: calmed}
		c = x.turn(c, e, func(emit func(*world)) { x.readClocks(c, emit) })
		c = x.takeTurns(c, e)
	}
	if e.wrong == "" {
		e.wrong = x.leftover(c)
	}
	return *e
}

// calm stops all adversity.
func (x *Explorer) calm(w *world, e *ending) *world {
	c := x.copy(w)
	c.left = Budget{}
	for i := range c.hosts {
		c.hosts[i] = places.Client{}
	}
	for len(c.pending) > 0 {
		c = x.turn(c, e, func(emit func(*world)) { x.repeat(c, 0, emit) })
	}
	for p := range c.procs {
		c.procs[p].asksLate = false
	}
	x.acquit(c)
	c.calm = true
	c.action = action{kind: calmed}
	return x.turn(c, e, func(emit func(*world)) { x.readClocks(c, emit) })
}

// turn replaces c by the world that follows from one event.
func (x *Explorer) turn(c *world, e *ending, happens func(emit func(*world))) *world {
	var next *world
	happens(func(d *world) {
		if next == nil {
			next = x.copy(d)
			next.action, next.wrong = d.action, d.wrong
		}
	})
	if e.tell {
		e.steps = append(e.steps, x.describe(c, next))
	}
	if next.wrong != "" && e.wrong == "" {
		e.wrong = next.wrong
	}
	x.drop(c)
	return next
}

func (x *Explorer) takeTurns(c *world, e *ending) *world {
	for turns := 0; e.wrong == ""; {
		moved := false
		for p := range c.procs {
			if !x.enabled(c, p) || x.passing(c, p) {
				continue
			}
			c = x.turn(c, e, func(emit func(*world)) { x.step(c, p, emit) })
			moved = true
			turns++
		}
		for i := 0; i < len(c.machine.Asleep); i++ {
			if c.machine.Next(i) {
				c = x.turn(c, e, func(emit func(*world)) { x.give(c, i, emit) })
				moved = true
				i = -1
			}
		}
		if what := x.unwoken(c); !moved && what != "" {
			e.wrong = what
		}
		switch {
		case turns > maxTurns || x.spent(c):
			e.wrong = "not everybody ends, though nothing is in the way: " + x.waiting(c)
		case !moved && x.stuck(c):
			c = x.turn(c, e, func(emit func(*world)) { x.reap(c, emit) })
		case !moved && (x.waiting(c) == "" || x.helpless(c)):
			return c
		case !moved && x.Config.Kernel != nil && x.napping(c) == steps.Forever:
			e.wrong = "not everybody ends, and nothing but others would wake " + x.waiting(c)
		case !moved:
			c = x.passTurn(c, e)
			turns++
		}
	}
	return c
}

// spent reports whether a process has tried so often that its ids, of which there are 256, would
// soon come again.
func (x *Explorer) spent(c *world) bool {
	for p := range c.procs {
		if x.graphs[p].Serial(c.procs[p].node) > 250 {
			return true
		}
	}
	return false
}

// passing reports whether p works for a time that has not passed.
func (x *Explorer) passing(c *world, p int) bool {
	o := x.op(c, p)
	return o.Kind == steps.OpWork && o.Wait > 0 && !c.procs[p].awake
}

// passTurn lets as much time pass as the first waiting process needs to wake.
func (x *Explorer) passTurn(c *world, e *ending) *world {
	wait := x.napping(c)
	return x.turn(c, e, func(emit func(*world)) {
		d := x.copy(c)
		x.pass(d, max(wait, 1))
		d.action = action{kind: jumped, op: steps.Op{Wait: max(wait, 1)}}
		x.readClocks(d, emit)
	})
}

// napping is how long it takes until the first waiting process wakes by itself.
func (x *Explorer) napping(c *world) int32 {
	wait := steps.Forever
	for p := range c.procs {
		if o := x.op(c, p); !c.procs[p].crashed && !c.procs[p].absent && !c.procs[p].stopped && (o.Kind == steps.OpAwait || o.Kind == steps.OpRest || o.Kind == steps.OpWork) {
			wait = min(wait, o.Wait)
		}
	}
	return wait
}

// helpless reports whether only processes wait that break nobody, before the cleaner comes.
func (x *Explorer) helpless(c *world) bool {
	for p := range c.procs {
		if q := &c.procs[p]; !x.roles[p].Script && !q.crashed && !q.absent && x.op(c, p).Kind != steps.OpDone {
			return false
		}
	}
	return c.procs[len(c.procs)-1].absent
}

// waiting lists the processes that have not ended.
func (x *Explorer) waiting(c *world) string {
	var all []string
	for p := range c.procs {
		if q := &c.procs[p]; !q.crashed && !q.absent && !q.stopped && x.op(c, p).Kind != steps.OpDone {
			all = append(all, x.title(p))
		}
	}
	return strings.Join(all, ", ")
}

// leftover says what is left that should not be.
func (x *Explorer) leftover(c *world) string {
	var all []string
	generations := 0
	for _, e := range c.tree {
		name := x.names.Texts[e.Name]
		generations += steps.Bit(strings.HasPrefix(name, "G/lock.") || x.isGeneration(e.Name) || strings.Contains(name, "/fence."))
		if !x.isLeftover(e.Name) {
			all = append(all, x.short(name))
		}
	}
	switch {
	case c.machine.Lock != 0:
		return "left over at the end: the lock file"
	case len(all) > 0:
		return fmt.Sprintf("left over at the end: %s", strings.Join(all, " "))
	case generations > maxGenerations:
		return fmt.Sprintf("%d generations are left at the end", generations)
	}
	return ""
}

// maxGenerations is how many generations may be left.
const maxGenerations = 4
