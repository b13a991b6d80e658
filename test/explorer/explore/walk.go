//go:build unix

package explore

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Walk goes one random way through a world that is too large to be searched. It goes on until
// nothing more can happen, or for limit steps, and then lets everybody finish. The same seed and
// number go the same way again. A way that ends in a violation is shortened.
func Walk(c Config, seed, number uint64, limit int) Result {
	x := NewExplorer(c)
	defer x.Close()
	began := time.Now()
	walk := walker{Explorer: x, dice: rand.New(rand.NewPCG(seed, number))}
	path, wrong := walk.run(limit)
	r := Result{Name: c.Name, States: uint64(len(path)), Steps: uint64(len(path)), Settled: 1, Depth: len(path)}
	switch {
	case x.isLimit(wrong):
		r.Limits = map[string]int{wrong: 1}
	case wrong != "":
		r.Wrong = x.shorten(path)
	}
	r.Took = time.Since(began)
	return r
}

type walker struct {
	*Explorer
	dice *rand.Rand
	// current is the process that goes on until the dice want another, so that others seem
	// paused.
	current int
}

// In how many of 1000 steps something goes wrong by itself, something goes wrong with a request,
// and another process comes to run.
const (
	mishaps  = 15
	faults   = 60
	switches = 150
)

func (k *walker) run(limit int) ([]choice, string) {
	var path []choice
	w := k.start()
	for len(path) < limit {
		a, next := k.choose(w)
		if next == nil {
			break
		}
		path = append(path, a)
		k.drop(w)
		w = next
		if w.wrong != "" {
			return path, w.wrong
		}
	}
	return path, k.letFinish(w, false).wrong
}

// choose chooses one of all things that can happen; nil: nothing can.
func (k *walker) choose(w *world) (choice, *world) {
	var steps, others []choice
	for _, a := range k.choices(w) {
		if a.kind == stepped {
			steps = append(steps, a)
		} else {
			others = append(others, a)
		}
	}
	if len(steps) == 0 || len(others) > 0 && k.dice.IntN(1000) < mishaps {
		return k.variant(w, others)
	}
	stay := slices.IndexFunc(steps, func(a choice) bool { return int(a.subject) == k.current })
	if stay < 0 || k.dice.IntN(1000) < switches {
		stay = k.dice.IntN(len(steps))
		k.current = int(steps[stay].subject)
	}
	return k.variant(w, steps[stay:stay+1])
}

// variant chooses one of some choices, and one of the ways in which it can go.
func (k *walker) variant(w *world, some []choice) (choice, *world) {
	for len(some) > 0 {
		i := k.dice.IntN(len(some))
		a := some[i]
		well, badly := k.ways(w, a)
		ways := well
		if len(well) == 0 || len(badly) > 0 && k.dice.IntN(1000) < faults {
			ways = badly
		}
		if len(ways) > 0 {
			a.variant = ways[k.dice.IntN(len(ways))]
			return a, k.redo(w, a)
		}
		some = slices.Delete(slices.Clone(some), i, i+1)
	}
	return choice{}, nil
}

// ways returns the variants in which nothing goes wrong with a request, and the others.
func (k *walker) ways(w *world, a choice) (well, badly []uint16) {
	variant := uint16(0)
	k.act(w, a, func(c *world) {
		if c.action.fault == noFault || c.action.fault == tornEnd {
			well = append(well, variant)
		} else {
			badly = append(badly, variant)
		}
		variant++
	})
	return well, badly
}

// shorten leaves out the steps of a path that its violation does not need.
func (x *Explorer) shorten(path []choice) *Violation {
	for size := len(path) / 2; size > 0; {
		shorter := x.without(path, size)
		if len(shorter) == len(path) {
			size /= 2
		}
		path = shorter
	}
	path, what, after := x.replay(path, true)
	return x.trace(path, after, what)
}

// without leaves out every piece of this size that is not needed.
func (x *Explorer) without(path []choice, size int) []choice {
	for i := 0; i+size <= len(path); {
		candidate := slices.Concat(path[:i], path[i+size:])
		if taken, what, _ := x.replay(candidate, false); what != "" && len(taken) < len(path) {
			path = taken
		} else {
			i += size
		}
	}
	return path
}

// replay goes a path again, as far as possible, and leaves out what is not possible any more. It
// returns the path taken, what was wrong, and how things ended.
func (x *Explorer) replay(path []choice, tell bool) (taken []choice, what string, after []string) {
	w := x.start()
	for _, a := range path {
		next := x.redo(w, a)
		if next == nil {
			continue
		}
		x.drop(w)
		w = next
		taken = append(taken, a)
		if w.wrong != "" {
			return taken, w.wrong, nil
		}
	}
	end := x.letFinish(w, tell)
	return taken, end.wrong, end.steps
}
