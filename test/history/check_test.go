package history

import (
	"cmp"
	"fmt"
	"slices"
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
	if s.blow != spared {
		text += fmt.Sprintf(" (%s at %.6f)", blowNames[s.blow], s.hurt.Seconds())
	}
	return text
}

// faults goes through the sections in the order of their beginnings. One that was lost
// before it began is none, except by what was received.
func faults(l *lock, received bool) (found []string) {
	slices.SortStableFunc(l.sections, func(a, b *section) int { return cmp.Compare(a.enter, b.enter) })
	var longest [2]*section // of those alone, of those who share
	var highest [2]*section
	for _, s := range l.sections {
		m := s.in(l)
		if s.until(received) <= s.enter && !received {
			continue
		}
		for i, before := range longest {
			if before != nil && before.until(received) > s.enter && (i == 0 || !m.shared) {
				found = append(found, fmt.Sprintf("%s: two inside: %v; and %v", l.address, before, s))
			}
		}
		for i, before := range highest {
			// Those who share a generation share its token.
			if before != nil && m.token != 0 && (before.in(l).token > m.token || before.in(l).token == m.token && !(m.shared && i == 1)) {
				found = append(found, fmt.Sprintf("%s: the token does not rise: %d: %v; then %d: %v", l.address, before.in(l).token, before, m.token, s))
			}
		}
		i := 0
		if m.shared {
			i = 1
		}
		if longest[i] == nil || s.until(received) > longest[i].until(received) {
			longest[i] = s
		}
		if highest[i] == nil || m.token > highest[i].in(l).token {
			highest[i] = s
		}
	}
	return found
}
