//go:build unix

package history

import (
	"time"

	"locksmith/test/lab/holds"
)

// A lock is one lock under test, with all that was seen of it. The recorder's mutex guards it.
type lock struct {
	profile  string
	address  string
	sections []*section
	inside   int // how many sections are open
	wanted   int // how many live parents wait for it

	gap       time.Duration // since when it has been wanted with nobody inside; 0: that is not so now
	disturbed time.Duration // when somebody was last killed, stopped or woken here
	injected  injection     // the last injection that hit a holder, until the next section begins
	reaped    time.Duration // when the operator last came
	idle      time.Duration // since when it was wanted in vain, at the last look
	looks     int           // how many looks since then have found it wanted in vain
	stuck     bool          // it was reported as stuck
}

// A section is the time for which a parent was inside one lock or a set: from the receipt of its
// enter to that of its leave or lost, or until it was killed.
type section struct {
	who         string
	id          string
	want        time.Duration
	enter       time.Duration
	leave       time.Duration // 0: still inside
	free        time.Duration // when the release was done; 0: nobody said so
	how         string        // how it ended
	injection   injection     // the injection that hit it
	hurt        time.Duration // when it was hit
	dropped     time.Duration // when the kernel took the lock away; 0: it did not
	ran         time.Duration // if lost: until when the parent ran well, by its own word; else 0
	memberships []membership
}

// until is the end of a section, by what was received. But a section that was lost ends when its
// parent knew it, unless received is set: a lease runs out whether the news arrives or not, and a
// machine that does not let the parent run does not let it work either.
func (s *section) until(received bool) time.Duration {
	switch {
	case s.dropped != 0: // the kernel asks nobody
		return s.dropped
	case s.leave == 0:
		return holds.Open
	case s.ran != 0 && !received:
		return min(s.ran, s.leave)
	}
	return s.leave
}

// A membership is one lock of a section.
type membership struct {
	lock   *lock
	shared bool
	token  uint64 // 0: there is none
}

// in returns the section's membership of a lock.
func (s *section) in(l *lock) membership {
	for _, m := range s.memberships {
		if m.lock == l {
			return m
		}
	}
	panic("a section that is not of this lock")
}

// settle checks whether somebody wants the lock and nobody has it. When that is over, it returns
// how long it was, and how much of it came after the last injection.
func (l *lock) settle(now time.Duration) (gap, vain time.Duration) {
	empty := l.inside == 0 && l.wanted > 0
	switch {
	case empty && l.gap == 0:
		l.gap = now
	case !empty && l.gap != 0:
		gap, vain = now-l.gap, l.vain(now)
		l.gap = 0
	}
	return gap, vain
}

// vain is how long somebody has wanted the lock and nobody had it, although nobody was killed.
func (l *lock) vain(now time.Duration) time.Duration {
	if l.gap == 0 {
		return 0
	}
	return now - max(l.gap, l.disturbed)
}
