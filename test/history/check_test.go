//go:build unix

package history

import (
	"fmt"
	"strings"
	"testing"

	"locksmith/test/lab/holds"
)

func (s *section) String() string {
	text := fmt.Sprintf("%s, id %s, %s", s.who, s.id, s.how)
	if s.injection != spared {
		text += fmt.Sprintf(" (%s at %.6f)", injectionNames[s.injection], s.hurt.Seconds())
	}
	return text
}

// holds are the holds of a lock: either as the recorder received them, or as the parents knew
// them.
func (l *lock) holds(received bool) (all []holds.Hold) {
	for _, s := range l.sections {
		m := s.in(l)
		all = append(all, holds.Hold{Who: s.String(), Shared: m.shared, Wanted: s.want, Start: s.enter, End: s.until(received), Freed: s.free, Token: m.token})
	}
	return all
}

// hasTokens reports whether holders of the lock get fencing tokens.
func (l *lock) hasTokens() bool {
	return strings.HasPrefix(l.address, "nfs:") || strings.HasPrefix(l.address, "s3:") || strings.HasPrefix(l.address, "etcd:") || strings.HasSuffix(l.address, "?style=dir")
}

const twoHolders = "two holders"

// judge reports what is wrong with all locks.
func judge(t *testing.T, cells []*cell) {
	t.Helper()
	var all []string
	late := 0
	for _, c := range cells {
		for _, l := range c.locks {
			faults := holds.Faults(l.holds(false), l.hasTokens())
			for _, fault := range faults {
				all = append(all, l.address+": "+fault)
			}
			late += overlaps(holds.Faults(l.holds(true), l.hasTokens())) - overlaps(faults)
		}
	}
	for _, fault := range all[:min(most, len(all))] {
		t.Error(fault)
	}
	t.Logf("%d faults; %d times the news of a loss came after the next one", len(all), late)
}

func overlaps(faults []string) (n int) {
	for _, fault := range faults {
		if strings.Contains(fault, twoHolders) {
			n++
		}
	}
	return n
}
