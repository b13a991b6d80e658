package history

import (
	"cmp"
	"fmt"
	"slices"

	"locksmith/backends/backendtest"
)

// A verdict is what is wrong with the sections of a lock, by two judges.
type verdict struct {
	faults    []string // of overlap and of tokens
	late      int      // overlaps only because the news of a loss came late
	refused   int      // chunks that no order of events explains
	undecided int      // chunks that took the checker too long
	chunks    int
}

// judge has both look at a lock.
func judge(l *lock) verdict {
	v := verdict{faults: faults(l, false)}
	v.late = len(faults(l, true)) - len(v.faults)
	v.linearize(l)
	return v
}

func (s *section) String() string {
	text := fmt.Sprintf("%s, id %s, %.6f..%.6f %s", s.who, s.id, s.enter.Seconds(), s.leave.Seconds(), s.how)
	if s.injection != spared {
		text += fmt.Sprintf(" (%s at %.6f)", injectionNames[s.injection], s.hurt.Seconds())
	}
	return text
}

// faults judges the sections in the order of their beginnings. One that was lost before it
// began is none, except by what was received.
func faults(l *lock, received bool) (found []string) {
	slices.SortStableFunc(l.sections, func(a, b *section) int { return cmp.Compare(a.enter, b.enter) })
	var held []backendtest.Interval
	tokens := false
	for _, s := range l.sections {
		m := s.in(l)
		if s.until(received) <= s.enter && !received {
			continue
		}
		tokens = tokens || m.token != 0
		held = append(held, backendtest.Interval{Who: s.String(), Shared: m.shared, Start: s.enter, End: s.until(received), Token: m.token})
	}
	for _, fault := range backendtest.Faults(held, tokens) {
		found = append(found, l.address+": "+fault)
	}
	return found
}
