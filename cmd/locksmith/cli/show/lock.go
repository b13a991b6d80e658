package show

import (
	"fmt"
	"io"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
)

// A Lock is one lock in status and list.
type Lock struct {
	Lock    string    `json:"lock"`
	State   string    `json:"state"` // free, held or unknown
	Token   uint64    `json:"token,omitempty"`
	Holders []*Holder `json:"holders"`
	Waiters []*Holder `json:"waiters,omitzero"` // in the order of the queue, if it has one; nil: not known
	AtLeast int       `json:"waiters_at_least,omitempty"`
	Success *Success  `json:"last_success,omitempty"`
	Broken  *Note     `json:"last_break,omitempty"`
	Beside  string    `json:"other_lock,omitempty"`
	Error   string    `json:"error,omitempty"`
	seen    backend.Report
	wanted  func(Participant) bool // nil: all
	explain func(Participant) []string
}

// A Success is the last one on record, in JSON.
type Success struct {
	AgoMS int64  `json:"ago_ms"`
	Host  string `json:"host,omitempty"`
}

// A Note tells of the last break by hand, in JSON.
type Note struct {
	ID     string    `json:"id"`
	User   string    `json:"user,omitempty"`
	Host   string    `json:"host,omitempty"`
	At     time.Time `json:"at"`
	Forced bool      `json:"forced"`
	Reason string    `json:"reason,omitempty"`
}

// NewLock is a lock that nobody has looked at yet. Only wanted participants will be shown. If
// wanted is nil, all are, and a free lock is shown, too.
func NewLock(lock string, wanted func(Participant) bool) Lock {
	return Lock{Lock: lock, State: "unknown", Holders: []*Holder{}, Waiters: []*Holder{}, wanted: wanted}
}

// Take puts down what was seen.
func (l *Lock) Take(r backend.Report) {
	l.State, l.Token, l.Beside, l.seen = "free", r.Token, r.Beside, r
	switch {
	case len(r.Holders) > 0:
		l.State = "held"
	case r.Unseen != "":
		l.State, l.Error = "unknown", r.Unseen
	}
	if r.Crowd {
		l.Waiters, l.AtLeast = nil, r.AtLeast
	}
	if s := r.Success; s != nil {
		l.Success = &Success{s.Ago.Milliseconds(), s.Host}
	}
	// If the holder is still there, the break had no effect.
	if n := r.Broken; n != nil {
		if _, still := l.Find(n.ID); still {
			l.seen.Broken, r.Broken = nil, nil
		}
	}
	if n := r.Broken; n != nil {
		l.Broken = &Note{n.ID, n.User, n.Host, n.At, n.Forced, n.Reason}
	}
	for _, p := range l.All() {
		h := NewHolder(p.Holder)
		switch {
		case !l.shows(p):
		case p.Waits:
			l.Waiters = append(l.Waiters, h)
		default:
			if p.Record != nil {
				acquired := time.Now().Add(-p.Age).UTC().Truncate(time.Second)
				h.Acquired = &acquired
			}
			l.Holders = append(l.Holders, h)
		}
	}
}

// Explain adds to the lines for people what there is to say of each holder and waiter.
func (l *Lock) Explain(explain func(Participant) []string) { l.explain = explain }

// CountWaiters is how many were seen to wait.
func (l *Lock) CountWaiters() int { return len(l.seen.Waiters) }

// Seen is what was put down last.
func (l *Lock) Seen() backend.Report { return l.seen }

func (l *Lock) shows(p Participant) bool { return l.wanted == nil || l.wanted(p) }

// All returns the holders, and then the waiters.
func (l *Lock) All() (all []Participant) {
	for _, h := range l.seen.Holders {
		all = append(all, Participant{h, false})
	}
	for _, h := range l.seen.Waiters {
		all = append(all, Participant{h, true})
	}
	return all
}

// Find finds a participant by its id.
func (l *Lock) Find(id string) (p Participant, ok bool) {
	all := l.All()
	i := slices.IndexFunc(all, func(p Participant) bool { return p.ID == id })
	if i < 0 {
		return Participant{}, false
	}
	return all[i], true
}

// Print tells people.
func (l *Lock) Print(out io.Writer) {
	for _, line := range l.lines() {
		fmt.Fprintln(out, line)
	}
}

func (l *Lock) lines() (lines []string) {
	if len(l.seen.Holders) == 0 && l.wanted == nil {
		line := fmt.Sprintf("%s: %s", Text(l.Lock), l.State)
		if l.seen.Unseen != "" {
			line += ": " + Text(l.seen.Unseen)
		}
		lines = append(lines, line)
	}
	for i, p := range l.All() {
		if l.shows(p) {
			lines = append(lines, l.line(p, i+1-len(l.seen.Holders)))
			lines = append(lines, l.explained(p)...)
		}
	}
	if l.Beside != "" && l.wanted == nil {
		lines = append(lines, fmt.Sprintf("%s: %s", Text(l.Lock), Text(l.Beside)))
	}
	if l.AtLeast > 0 && l.wanted == nil {
		lines = append(lines, fmt.Sprintf("%s: waiting: at least %d", Text(l.Lock), l.AtLeast))
	}
	if l.seen.Success != nil && l.wanted == nil {
		lines = append(lines, fmt.Sprintf("%s: %s", Text(l.Lock), l.seen.Success))
	}
	if n := l.seen.Broken; n != nil && l.wanted == nil {
		lines = append(lines, fmt.Sprintf("%s: the holder %s was %s", Text(l.Lock), n.ID, n))
	}
	return lines
}

func (l *Lock) explained(p Participant) (lines []string) {
	if l.explain == nil {
		return nil
	}
	for _, text := range l.explain(p) {
		lines = append(lines, "    "+Text(text))
	}
	return lines
}

// line tells of a participant, whose place in the queue counts from 1.
func (l *Lock) line(p Participant, place int) string {
	switch {
	case p.Waits && l.seen.Queued:
		return fmt.Sprintf("%s: %d. in the queue: %s [%s]%s", Text(l.Lock), place, p.Holder, condition.Of(p.Holder).Verdict(), p.Mode())
	case p.Waits:
		return p.Line(l.Lock) + p.Mode()
	case l.Token != 0:
		return fmt.Sprintf("%s%s, token %d", p.Line(l.Lock), p.Mode(), l.Token)
	}
	return p.Line(l.Lock)
}
