// Package watch watches the entries of others in a lock, and decides when one of them may
// be broken: when its owner is proven dead, or was silent for a whole lease by the watcher's
// own clock, and nothing has changed after a period of grace. Grounds that only one kind of
// lock has are rules as well (Rule).
//
// It promises to err on the side of waiting: the clock is read before each look, a watch
// begins after its first look and ends before its last, and a look that fails starts it
// again, unless there is a memory of it (Memory). It cannot promise that a silent holder is
// dead, so a holder must stop when its own lease is over. The caller decides what to look
// at, and how to remove it.
package watch

import (
	"maps"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// Seen is what one look shows of an entry of somebody else.
type Seen struct {
	ID      string
	Sign    string        // of life: any text that changes with holder and heartbeat
	Lasting bool          // a Sign that is gone never comes back
	Record  *owner.Record // nil: there is none
	Note    string        // why there is no record, or what is odd
	PID     int           // without a record: what else tells of a process; 0: nothing
	Verdict owner.Verdict
	Lease   time.Duration // for people; 0: unknown
	Since   time.Time     // it holds or waits, for people; zero: unknown
	Beat    time.Time     // its last heartbeat by the clock of its server or machine; zero: unknown
	Silent  time.Duration // at least, by the watcher's clock; Look fills it in
	Overdue bool          // silent for longer than its lease, and not to be broken for that; Look fills it in
	// Rules are the grounds on which it may be broken. A ground keeps its index from look
	// to look. Without any the entry stays, and the watch starts again.
	Rules []Rule
}

// An Observation is what was seen, judged.
type Observation struct {
	Seen
	// Due is how long it must still be seen unchanged before it may be broken: 0 means
	// now, Never that only another event can change that.
	Due time.Duration
	// By is Due by each of the rules alone.
	By []time.Duration
}

// A Watcher remembers what it saw of others, by name. It is used by one goroutine.
type Watcher struct {
	request backend.Request
	watched map[string]*watched
}

type watched struct {
	seen   Seen // at the last look
	timers []timer
}

// New returns a watcher that breaks as the request says. It has seen nothing yet.
func New(r backend.Request) *Watcher {
	return &Watcher{request: r, watched: map[string]*watched{}}
}

// Rule is the ground that all kinds of locks share: proof, or a lease that is over.
func (w *Watcher) Rule(v owner.Verdict, lease time.Duration) Rule {
	if w.request.Strict {
		lease = 0
	}
	return Rule{Dead: v == owner.Dead, Lease: lease, Grace: w.request.Grace}
}

// Look looks at something by calling see, and judges it. see is given what the look
// before showed, or nothing. Its error, which Look returns, starts the watch again.
func (w *Watcher) Look(name string, see func(last Seen) (Seen, error)) (Observation, error) {
	x := w.watched[name]
	if x == nil {
		x = &watched{}
	}
	before := w.request.Clock.Now()
	seen, err := see(x.seen)
	if err != nil {
		w.Forget(name)
		return Observation{Seen: seen, Due: Never}, err
	}
	w.watched[name], x.seen = x, seen
	o := Observation{Seen: seen, Due: Never}
	x.timers = x.timers[:min(len(x.timers), len(seen.Rules))]
	for i, r := range seen.Rules {
		if i == len(x.timers) {
			x.timers = append(x.timers, w.start(seen, r))
		} else if x.timers[i].sign != seen.Sign {
			x.timers[i] = w.start(seen, r)
		}
		o.By = append(o.By, x.timers[i].due(before, r))
		o.Due = min(o.Due, o.By[i])
	}
	if len(x.timers) > 0 && seen.Verdict == owner.Unknown {
		o.Silent = max(before-x.timers[0].since, 0)
		o.Overdue = o.Due == Never && seen.Lease > 0 && o.Silent > seen.Lease
	}
	return o, nil
}

// start begins a watch after the first look; or when an earlier try began it.
func (w *Watcher) start(s Seen, r Rule) timer {
	t := timer{clock: w.request.Clock, sign: s.Sign, since: w.request.Clock.Now()}
	if w.request.Memory != nil && !r.Dead && isRemembered(s.Verdict, s.Lasting) {
		t.since = w.request.Memory.Since(s.ID, s.Sign, t.since)
	}
	return t
}

// Forget forgets one of them: the watch starts again.
func (w *Watcher) Forget(name string) { delete(w.watched, name) }

// Keep forgets all but those whose names it is told to keep.
func (w *Watcher) Keep(keep func(name string) bool) {
	maps.DeleteFunc(w.watched, func(name string, _ *watched) bool { return !keep(name) })
}

// Holder describes for people what was seen; today is the wall clock.
func (s Seen) Holder(today time.Time) backend.Holder {
	h := backend.Holder{ID: s.ID, Sign: s.Sign, Lasting: s.Lasting, Silent: s.Silent, Overdue: s.Overdue, Record: s.Record, Note: s.Note,
		Verdict: s.Verdict, PID: s.PID, Lease: s.Lease}
	if s.Record != nil {
		h.PID = s.Record.Helper.PID
	}
	if !s.Since.IsZero() {
		h.Age = max(today.Sub(s.Since), 0)
	}
	if !s.Beat.IsZero() {
		h.Heartbeat = max(today.Sub(s.Beat), 0)
	}
	return h
}
