// Package watch watches the entries of others in a lock, and decides when one may be broken.
// That is when its owner is proven dead, or was silent for a whole lease by the watcher's own
// clock, and nothing has changed after a period of grace. A kind of lock may have further
// grounds, as rules of its own (Rule).
//
// In doubt the package waits. It reads the clock before each look. A watch begins after its first
// look and ends before its last. A look that fails starts the watch again, unless a Memory
// remembers the watch. Nothing here proves that a silent holder is dead. So a holder must stop
// when its own lease is over. The caller decides what to look at, and how to remove it.
//
// Most kinds look at others through Others. Two have more around it: link also asks how old a file
// is by its server's clock, and local, which asks a Watcher itself, looks at a file in two ways, of
// which one takes the kernel's lock.
package watch

import (
	"maps"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// Seen is what one look shows of somebody else's entry.
type Seen struct {
	ID      string
	Sign    string        // of life: any text that changes with the holder and with each heartbeat
	Lasting bool          // a Sign that is gone never comes back
	Record  *owner.Record // nil: there is none
	Note    string        // why there is no record, or what is odd
	PID     int           // of a process, from elsewhere than a record; 0: unknown
	Verdict owner.Verdict
	Lease   time.Duration // for people; 0: unknown
	Since   time.Time     // when it began to hold or wait, for people; zero: unknown
	Beat    time.Time     // its last heartbeat by the clock of its server or machine; zero: unknown
	Silent  time.Duration // for at least how long, by the watcher's clock; Look fills it in
	Overdue bool          // silent for longer than its lease, yet not to be broken for that; Look fills it in
	// Rules are the grounds on which the entry may be broken. A ground has the same index in
	// every look. Without rules the entry stays, and the watch starts again.
	Rules []Rule
}

// An Observation is what was seen, judged.
type Observation struct {
	Seen
	// Due is for how long the entry must still be seen unchanged before it may be broken. 0 means
	// now. Never means that only another event helps.
	Due time.Duration
	// By is what Due would be by each rule alone.
	By []time.Duration
}

// A Watcher remembers what it saw of others, by name. One goroutine uses it.
type Watcher struct {
	request backend.Request
	watched map[string]*watched
}

type watched struct {
	seen   Seen // at the last look
	timers []timer
}

// New returns a watcher that breaks as r says. It has seen nothing yet.
func New(r backend.Request) *Watcher {
	return &Watcher{request: r, watched: map[string]*watched{}}
}

// Rule is the ground that all kinds of locks share: proof of death, or a lease that is over.
func (w *Watcher) Rule(v owner.Verdict, lease time.Duration) Rule {
	//rule:strict
	if w.request.Strict {
		lease = 0
	}
	return Rule{Dead: v == owner.Dead, Lease: lease, Grace: w.request.Grace}
}

// Look calls see to look at something, and judges it. see gets what the last look showed, or
// nothing. Look returns the error of see, which starts the watch again.
func (w *Watcher) Look(name string, see func(last Seen) (Seen, error)) (Observation, error) {
	x := w.watched[name]
	if x == nil {
		x = &watched{}
	}
	//rule:clock
	before := w.request.Clock.Now()
	//rule:before
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

// start begins a watch: now, after the first look, or at the time when an earlier try began it.
func (w *Watcher) start(s Seen, r Rule) timer {
	t := timer{clock: w.request.Clock, sign: s.Sign, since: w.request.Clock.Now()}
	if w.request.Memory != nil && !r.Dead && mayRemember(s.Verdict, s.Lasting) {
		//rule:since
		t.since = w.request.Memory.Since(s.ID, s.Sign, t.since)
	}
	return t
}

// Forget forgets one entry: its watch starts again.
func (w *Watcher) Forget(name string) { delete(w.watched, name) }

// Keep forgets all entries but those for whose names keep returns true.
func (w *Watcher) Keep(keep func(name string) bool) {
	maps.DeleteFunc(w.watched, func(name string, _ *watched) bool { return !keep(name) })
}

// HolderThere is Holder, but the age of the last heartbeat is by the clock of the lock's place, where
// it is there; zero: unknown.
func (s Seen) HolderThere(today, there time.Time) backend.Holder {
	h := s.Holder(today)
	if !there.IsZero() && !s.Beat.IsZero() {
		h.Heartbeat, h.ByPlace = max(there.Sub(s.Beat), 0), true
	}
	return h
}

// Holder describes for people what was seen. today is the wall clock's time.
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
