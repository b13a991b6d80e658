//go:build unix

package explore

import (
	"slices"
	"strings"
	"time"
)

// A Result is what an exploration found.
type Result struct {
	Name     string
	States   uint64
	Steps    uint64 // how many steps from one state to another
	Walks    int    // how many random walks, if it was not a search
	Settled  int    // from how many states everybody was let finish
	Depth    int
	Complete bool // nothing is left to explore
	Took     time.Duration
	Nodes    int // for how many answers the code under test was run
	Wrong    *Violation
	// Limit is the first known violation. Limits is how often each was met. Missed are those that
	// should have been met.
	Limit  *Violation
	Limits map[string]int
	Missed []string
}

// A Violation is a property that does not hold, and the steps that lead there.
type Violation struct {
	What  string
	Steps []string
}

// Search explores breadth first, so the first violation is one of the shortest. It stops at a
// violation, after limit states, or when it has seen everything.
func (x *Explorer) Search(limit int) Result {
	s := search{Explorer: x, seen: newSet(), limit: limit, limits: map[string]int{}}
	began := time.Now()
	wrong := s.run()
	r := Result{Name: x.Config.Name, States: uint64(s.seen.count), Steps: x.Steps, Settled: s.settled, Depth: s.depth,
		Complete: s.complete, Took: time.Since(began), Wrong: wrong, Limit: s.first, Limits: s.limits}
	for _, g := range x.graphs {
		r.Nodes += g.Len()
	}
	r.Missed = slices.DeleteFunc(slices.Clone(x.Config.Meets), func(what string) bool { return s.limits[what] > 0 })
	return r
}

type search struct {
	*Explorer
	seen     *set
	limit    int
	depth    int
	settled  int
	complete bool
	// How each state came about: the state before it, and the choice made there.
	parents []uint32
	choices []uint32
	// The encoded states of this depth, and of the next.
	layer, next pile
	buffer      []byte
	current     uint32
	wrong       *Violation
	first       *Violation // the first known limit
	limits      map[string]int
}

// A pile is a list of encoded states.
type pile struct {
	bytes []byte
	ends  []int
}

func (p *pile) push(b []byte) {
	p.bytes = append(p.bytes, b...)
	p.ends = append(p.ends, len(p.bytes))
}

func (p *pile) at(i int) []byte {
	begin := 0
	if i > 0 {
		begin = p.ends[i-1]
	}
	return p.bytes[begin:p.ends[i]]
}

func (p *pile) empty() { p.bytes, p.ends = p.bytes[:0], p.ends[:0] }

func (s *search) run() *Violation {
	w := s.start()
	s.reach(choice{}, w)
	for len(s.next.ends) > 0 {
		s.layer, s.next = s.next, s.layer
		s.next.empty()
		first := len(s.parents) - len(s.layer.ends)
		for i := range s.layer.ends {
			s.current = uint32(first + i)
			w.decode(s.layer.at(i))
			s.expand(w)
			if s.wrong != nil {
				return s.wrong
			}
			if s.seen.count >= s.limit {
				return nil
			}
		}
		s.depth++
	}
	s.complete = true
	return nil
}

// expand follows everything that can happen in w.
func (s *search) expand(w *world) {
	any := false
	s.successors(w, func(a choice, c *world) {
		any = true
		if s.isLimit(c.wrong) {
			s.known(a, c.wrong)
			return
		}
		if s.wrong == nil && c.wrong != "" {
			s.wrong = s.trace(s.path(s.current, a), nil, c.wrong)
		}
		s.reach(a, c)
	})
	if s.wrong == nil && s.sample(!any) {
		s.settle(w)
	}
}

// known counts a violation that is expected. The first one is one of the shortest.
func (s *search) known(a choice, what string) {
	s.limits[what]++
	if s.first == nil {
		s.first = s.trace(s.path(s.current, a), nil, what)
	}
}

func (x *Explorer) isLimit(what string) bool {
	return x.Config.Limit != "" && strings.Contains(what, x.Config.Limit)
}

// reach adds a state if it is new.
func (s *search) reach(a choice, c *world) {
	s.buffer = c.encode(s.buffer[:0])
	if !s.seen.add(keyOf(s.buffer)) {
		return
	}
	s.next.push(s.buffer)
	s.parents = append(s.parents, s.current)
	s.choices = append(s.choices, a.pack())
}

// sample chooses the states to settle: many of those where nothing can happen any more, and now
// and then one on the way. The more there were, the fewer it chooses. The world of a single
// process is small, so there all states are settled.
func (s *search) sample(terminal bool) bool {
	if len(s.Config.Roles) == 1 {
		return true
	}
	every := uint32(1021)
	switch {
	case terminal:
		every = 7
	case s.Config.Limit == Stopped:
		every = 7 // the limit is met in few states
	case s.Config.Kernel != nil:
		every = 61 // the worlds are small
	}
	return s.settled < maxSettled && s.current%every == 0 || s.settled < maxSettled/4 && terminal
}

const maxSettled = 500

func (s *search) settle(w *world) {
	s.settled++
	wrong := s.letFinish(w, false).wrong
	if wrong != "" && !s.isLimit(wrong) {
		end := s.letFinish(w, true)
		s.wrong = s.trace(s.path(s.current), end.steps, end.wrong)
	}
	for p := range w.procs {
		if s.wrong == nil && s.mayStop(w, p) {
			s.settleWithout(w, p)
		}
	}
}

// settleWithout lets everybody finish except process p, which is stopped.
func (s *search) settleWithout(w *world, p int) {
	switch wrong := s.letOthersFinish(w, p, false).wrong; {
	case s.isLimit(wrong):
		s.limits[wrong]++
	case wrong != "":
		end := s.letOthersFinish(w, p, true)
		s.wrong = s.trace(s.path(s.current), end.steps, end.wrong)
	}
}

// path returns the choices that led to a state, followed by more.
func (s *search) path(state uint32, more ...choice) []choice {
	var path []choice
	for ; state != 0; state = s.parents[state] {
		path = append(path, unpackChoice(s.choices[state]))
	}
	slices.Reverse(path)
	return append(path, more...)
}

// trace describes a path.
func (x *Explorer) trace(path []choice, more []string, what string) *Violation {
	w := x.start()
	v := &Violation{What: what, Steps: slices.Clone(x.opening)}
	for _, a := range path {
		next := x.redo(w, a)
		v.Steps = append(v.Steps, x.describe(w, next))
		w = next
	}
	v.Steps = append(v.Steps, more...)
	return v
}
