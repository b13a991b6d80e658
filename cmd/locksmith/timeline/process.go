package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"locksmith/locksmith/events"
)

// A moment is an event with its time in the picture.
type moment struct {
	events.Event
	at time.Time
}

// A process is the life of one helper: its events in order, one at least.
type process struct {
	moments     []*moment
	parts       []*part // a part for each lock, one at least
	first, last *moment
	got         *moment   // the event acquired; nil: there is none
	began       time.Time // when it began to wait or to try
	from        time.Time // when it got the lock; zero: never
	isOver      bool      // it told its end
	knowsWhich  bool      // the events say for which locks of a set it waited
}

// A part is a process with one of its locks: a row of the picture.
type part struct {
	*process
	names []string // names of the lock, one at least; the first counts
	id    string   // of this acquisition; empty: not known
	token uint64   // 0: none, or not known
	mode  string
	over  *moment // by which others ended it, at that time; nil: no other process did, as far as is known
	broke bool    // over: the lock was broken; else another just got it
}

// processes sorts events into the lives of helpers, in the order in which the lives begin. If a
// pid comes again after a last event, it is another process. One that only broke somebody else's
// lock, and neither waited nor held, is left out.
func processes(all []events.Event) []*process {
	type key struct {
		host, clock string
		pid         int
	}
	var found []*process
	open := map[key]*process{}
	for _, m := range place(all) {
		k := key{m.Host, m.Clock, m.PID}
		p := open[k]
		if p == nil {
			p = &process{first: m, began: m.at}
			found, open[k] = append(found, p), p
		}
		p.add(m)
		if p.isOver {
			delete(open, k)
		}
	}
	for _, p := range found {
		p.split()
	}
	endByOthers(found)
	return slices.DeleteFunc(found, func(p *process) bool { return p.first.Kind == events.Broken })
}

// place gives each event its time in the picture, and returns the events in that order. The zero of a
// clock is where the calendar has it according to the clock's first reading.
func place(all []events.Event) []*moment {
	first := map[string]events.Event{}
	for _, e := range all {
		f, known := first[e.Clock]
		if !known || e.Boot.Span() < f.Boot.Span() || e.Boot.Span() == f.Boot.Span() && e.Time.Before(f.Time.Time) {
			first[e.Clock] = e
		}
	}
	var placed []*moment
	for _, e := range all {
		m := &moment{e, e.Time.Time}
		if zero := first[e.Clock]; e.Clock != "" {
			m.at = zero.Time.Add(e.Boot.Span() - zero.Boot.Span())
		}
		placed = append(placed, m)
	}
	slices.SortFunc(placed, func(a, b *moment) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID),
			cmp.Compare(slices.Index(events.Kinds, a.Kind), slices.Index(events.Kinds, b.Kind)))
	})
	return placed
}

// add adds the next event.
func (p *process) add(m *moment) {
	p.moments, p.last, p.isOver = append(p.moments, m), m, m.Kind.IsLast()
	if tried := m.at.Add(-m.Waited.Span()); tried.Before(p.began) {
		p.began = tried
	}
	p.knowsWhich = p.knowsWhich || m.Lock != ""
	switch {
	case m.Kind == events.Acquired && p.got == nil:
		p.got, p.from = m, m.at
	case m.Kind == events.Released && p.got == nil:
		p.from = m.at.Add(-m.Held.Span())
	}
}

// all returns the events of a kind.
func (p *process) all(k events.Kind) []*moment {
	return slices.DeleteFunc(slices.Clone(p.moments), func(m *moment) bool { return m.Kind != k })
}

func (p *process) held() bool { return !p.from.IsZero() }

// isOpen reports whether the end is not known of some lock that the process held or waited for.
func (p *process) isOpen() bool {
	return !p.isOver && slices.ContainsFunc(p.parts, func(f *part) bool { return f.over == nil })
}

// turn orders the rows: by when the process got the lock, or else by its last event.
func (p *process) turn() time.Time {
	if p.held() {
		return p.from
	}
	return p.last.at
}

// split makes the parts of a process: one, or one for each lock of a set. If a set has a lock
// twice, that is one part, and exclusive covers both modes. If the lock has two names, the id of the
// acquisition tells.
func (p *process) split() {
	e := cmp.Or(p.got, p.first)
	ids := strings.Split(e.ID, ",")
	if len(ids) != len(e.Locks) {
		ids = make([]string, len(e.Locks)) // the ids are not known
	}
	byName, byID := map[string]*part{}, map[string]*part{}
	for i, lock := range e.Locks {
		f := byName[lock]
		if f == nil && ids[i] != "" {
			f = byID[ids[i]]
		}
		if f == nil {
			f = &part{process: p, id: ids[i], token: e.TokenOf(i), mode: e.ModeOf(i)}
			p.parts = append(p.parts, f)
		}
		byName[lock], byID[ids[i]] = f, f
		f.names = append(f.names, lock)
		if e.ModeOf(i) == "exclusive" {
			f.mode = "exclusive"
		}
	}
}

func (f *part) lock() string { return f.names[0] }

// lapsed is when the lease of a process that lost its lock was over: it was stopped, and others may
// have held the lock since. Of one that noticed in time, or if that is not known, it is its end.
func (f *part) lapsed() time.Time {
	if f.got == nil || f.got.Lease.Span() == 0 || f.last.Silent.Span() <= f.got.Lease.Span() {
		return f.last.at
	}
	over := f.last.at.Add(f.got.Lease.Span() - f.last.Silent.Span())
	return f.got.at.Add(max(over.Sub(f.got.at), 0))
}

// A span is a time of waiting, with the events that name the holders waited for.
type span struct {
	from, to time.Time
	behind   []*moment
}

// waits returns the times, up to to, in which the process waited for this lock. If the events do
// not say which lock of a set was not free, that is the whole time.
func (f *part) waits(to time.Time) (found []span) {
	seen := f.all(events.Waiting)
	if !f.knowsWhich {
		return []span{{f.began, to, seen}}
	}
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

// groups returns the rows of each lock, in order, in the order of the locks' addresses.
func groups(all []*process) (found [][]*part) {
	byLock := map[string][]*part{}
	for _, p := range all {
		for _, f := range p.parts {
			byLock[f.lock()] = append(byLock[f.lock()], f)
		}
	}
	for _, rows := range byLock {
		slices.SortStableFunc(rows, func(a, b *part) int { return a.turn().Compare(b.turn()) })
		found = append(found, rows)
	}
	slices.SortFunc(found, func(a, b []*part) int { return cmp.Compare(a[0].lock(), b[0].lock()) })
	return found
}

// endByOthers looks at each part that was held and not released by its process, and finds how
// others ended the hold, if they did: the first event that tells of a break, or the first other process
// that got the lock. Otherwise its bar would stand beside its heir's bar, as if both had held the lock.
func endByOthers(all []*process) {
	broken := map[string]*moment{} // by the id of the broken holder
	for _, p := range all {
		for _, m := range p.moments {
			if first := broken[m.Holder.ID]; (m.Kind == events.Broke || m.Kind == events.Broken) && (first == nil || m.at.Before(first.at)) {
				broken[m.Holder.ID] = m
			}
		}
	}
	delete(broken, "") // the holder was not known
	for _, rows := range groups(all) {
		for _, f := range rows {
			if f.held() && f.last.Kind != events.Released {
				f.end(rows, broken[f.id])
			}
		}
	}
}

// end finds how others ended a hold, if the process did not tell its own end first.
func (f *part) end(rows []*part, over *moment) {
	f.broke = over != nil
	for _, other := range rows {
		if other.follows(f) && (over == nil || other.got.at.Before(over.at)) {
			over = other.got
		}
	}
	if over == nil || f.isOver && !over.at.Before(f.last.at) {
		return
	}
	f.over = new(*over)
	if f.over.at.Before(f.from) { // possible with the calendar of another host
		f.over.at = f.from
	}
}

// follows reports whether f got the lock after other, and does not share it. It goes by their tokens if
// both have one.
func (f *part) follows(other *part) bool {
	switch {
	case f.got == nil || f.process == other.process || f.mode == "shared" && other.mode == "shared":
		return false
	case f.token != 0 && other.token != 0:
		return f.token > other.token
	}
	return f.from.After(other.from)
}
