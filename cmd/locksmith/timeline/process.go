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
	moments []*moment
	parts   []part // a part for each lock, one at least
}

// processes sorts events into the lives of helpers, in the order in which the lives begin. If a
// pid comes again after a last event, it is another process.
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
			p = &process{}
			found, open[k] = append(found, p), p
		}
		p.moments = append(p.moments, &m)
		if m.Kind.IsLast() {
			delete(open, k)
		}
	}
	for _, p := range found {
		p.parts = p.split()
	}
	endByOthers(found)
	return slices.DeleteFunc(found, (*process).isOperator)
}

// isOperator reports whether a process only broke somebody else's lock, and neither waited nor
// held.
func (p *process) isOperator() bool { return p.first().Kind == events.Broken }

// place gives each event its time in the picture, and returns the events in that order.
func place(all []events.Event) []moment {
	zero := zeros(all)
	placed := make([]moment, len(all))
	for i, e := range all {
		placed[i] = moment{e, e.Time}
		if e.Clock != "" {
			placed[i].at = zero[e.Clock].Add(e.Boot)
		}
	}
	slices.SortFunc(placed, func(a, b moment) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
	return placed
}

// zeros returns for each clock the calendar time of its zero, according to the clock's first
// reading.
func zeros(all []events.Event) map[string]time.Time {
	first := map[string]events.Event{}
	for _, e := range all {
		f, known := first[e.Clock]
		if !known || e.Boot < f.Boot || e.Boot == f.Boot && e.Time.Before(f.Time) {
			first[e.Clock] = e
		}
	}
	zero := map[string]time.Time{}
	for clock, e := range first {
		zero[clock] = e.Time.Add(-e.Boot)
	}
	return zero
}

// rank orders events that happen at the same time.
func rank(k events.Kind) int {
	return slices.Index([]events.Kind{events.Waiting, events.Broke, events.Broken, events.Acquired, events.Late, events.Lost, events.Released, events.GaveUp}, k)
}

func (p *process) first() *moment { return p.moments[0] }
func (p *process) last() *moment  { return p.moments[len(p.moments)-1] }

// all returns the events of a kind.
func (p *process) all(k events.Kind) []*moment {
	return slices.DeleteFunc(slices.Clone(p.moments), func(m *moment) bool { return m.Kind != k })
}

// acquired returns the event acquired, if there is one.
func (p *process) acquired() (m *moment, known bool) {
	i := slices.IndexFunc(p.moments, func(m *moment) bool { return m.Kind == events.Acquired })
	if i < 0 {
		return nil, false
	}
	return p.moments[i], true
}

// began is when the process began to wait or to try.
func (p *process) began() time.Time {
	began := p.first().at
	for _, m := range p.moments {
		if tried := m.at.Add(-m.Waited); tried.Before(began) {
			began = tried
		}
	}
	return began
}

// held is when the process got the lock, if it did.
func (p *process) held() (from time.Time, ok bool) {
	if m, ok := p.acquired(); ok {
		return m.at, true
	}
	if m := p.last(); m.Kind == events.Released {
		return m.at.Add(-m.Held), true
	}
	return time.Time{}, false
}

// isOver reports whether the process told its end.
func (p *process) isOver() bool { return p.last().Kind.IsLast() }

// isOpen reports whether the end is not known of some lock that the process held or waited for.
func (p *process) isOpen() bool {
	return !p.isOver() && slices.ContainsFunc(p.parts, func(f part) bool { return f.over == nil })
}

// turn orders the rows: by when the process got the lock, or else by its last event.
func (p *process) turn() time.Time {
	if from, ok := p.held(); ok {
		return from
	}
	return p.last().at
}

// name is the name of the process in the picture.
func (p *process) name() string { return strings.TrimRight(nameOf(p.first().Event), " ") }
