package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"locksmith/locksmith/events"
)

// A part is a process with one of its locks: a row of the picture.
type part struct {
	*process
	names []string // names of the lock, one at least; the first counts
	id    string   // of this acquisition; empty: not known
	token uint64   // 0: none, or not known
	mode  string
	over  *ending // how others ended it; nil: no other process did, as far as is known
}

// split makes the parts of a process: one, or one for each lock of a set. If a set has a lock
// twice, that is one part. If the lock has two names, the id of the acquisition tells.
func (p *process) split() []part {
	e, ok := p.acquired()
	if !ok {
		e = p.first()
	}
	ids := strings.Split(e.ID, ",")
	if len(ids) != len(e.Locks) || e.ID == "" {
		ids = make([]string, len(e.Locks)) // the ids are not known
	}
	var parts []part
	byName, byID := map[string]int{}, map[string]int{}
	for i, lock := range e.Locks {
		at, twice := byName[lock]
		if !twice && ids[i] != "" {
			at, twice = byID[ids[i]]
		}
		if !twice {
			at = len(parts)
			parts = append(parts, part{process: p, id: ids[i], token: e.TokenOf(i), mode: e.ModeOf(i)})
		}
		byName[lock], byID[ids[i]] = at, at
		parts[at].add(lock, e.ModeOf(i))
	}
	return parts
}

// add adds a name of the lock, with the mode that is wanted under that name. Exclusive covers
// both modes.
func (f *part) add(name, mode string) {
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
	if mode == "exclusive" {
		f.mode = mode
	}
}

func (f part) lock() string { return f.names[0] }

// lapsed is when the lease of a process that lost its lock was over: it was stopped, and others may
// have held the lock since. Of one that noticed in time, or if that is not known, it is its end.
func (f part) lapsed() time.Time {
	m, known := f.acquired()
	last := f.last()
	if !known || m.Lease == 0 || last.Silent <= m.Lease {
		return last.at
	}
	if over := last.at.Add(m.Lease - last.Silent); over.After(m.at) {
		return over
	}
	return m.at
}

// until is when the process's last event was, or others ended its hold before.
func (f part) until() time.Time {
	if f.over != nil {
		return f.over.at
	}
	return f.last().at
}

// A span is a time of waiting, with the events that name the holders waited for.
type span struct {
	from, to time.Time
	behind   []*moment
}

// waits returns the times, up to to, in which the process waited for this lock. If the events do
// not say which lock of a set was not free, that is the whole time.
func (f part) waits(to time.Time) []span {
	seen := f.all(events.Waiting)
	if !f.knowsWhich() {
		return []span{{f.began(), to, seen}}
	}
	var found []span
	for i, m := range seen {
		until := to
		if i+1 < len(seen) {
			until = seen[i+1].at
		}
		last := len(found) - 1
		switch {
		case !slices.Contains(f.names, m.Lock):
		case last >= 0 && found[last].to.Equal(m.at):
			found[last].to, found[last].behind = until, append(found[last].behind, m)
		default:
			found = append(found, span{m.at, until, []*moment{m}})
		}
	}
	return found
}

// knowsWhich reports whether the events say for which locks of a set the process waited.
func (p *process) knowsWhich() bool {
	return slices.ContainsFunc(p.moments, func(m *moment) bool { return m.Lock != "" })
}

// A group is the rows of one lock, in order.
type group struct {
	lock string
	rows []part
}

// groups returns the groups in the order of the locks' addresses.
func groups(all []*process) []group {
	byLock := map[string][]part{}
	for _, p := range all {
		for _, f := range p.parts {
			byLock[f.lock()] = append(byLock[f.lock()], f)
		}
	}
	var found []group
	for lock, rows := range byLock {
		slices.SortStableFunc(rows, func(a, b part) int { return a.turn().Compare(b.turn()) })
		found = append(found, group{lock, rows})
	}
	slices.SortFunc(found, func(a, b group) int { return cmp.Compare(a.lock, b.lock) })
	return found
}
