package events

import (
	"math"
	"slices"
	"time"

	"locksmith/protocol"
)

// A Kind says what happened.
type Kind string

// The kinds of events; see the package's comment.
const (
	Waiting  Kind = "waiting"
	Broke    Kind = "broke"
	Broken   Kind = "broken"
	Acquired Kind = "acquired"
	Late     Kind = "late"
	Lost     Kind = "lost"
	Released Kind = "released"
	GaveUp   Kind = "gave-up"
)

// Kinds are all of them. Of events at the same time they come in this order.
var Kinds = []Kind{Waiting, Broke, Broken, Acquired, Late, Lost, Released, GaveUp}

// IsLast reports whether a process says nothing after such an event.
func (k Kind) IsLast() bool { return k == Lost || k == Released || k == GaveUp || k == Broken }

// An Event is something that happened to a helper, and a line of JSON. Of the fields from Lock on, it
// has those of its kind.
type Event struct {
	Time    Stamp    `json:"time"`
	Boot    *Millis  `json:"boot_ms"`         // reading of Clock
	Clock   string   `json:"clock,omitempty"` // names a clock; empty: Boot cannot be compared
	Kind    Kind     `json:"event"`
	Locks   []string `json:"locks"`          // canonical addresses
	More    int      `json:"more,omitempty"` // how many more locks the set has, for which the line had no room
	Host    string   `json:"host"`
	PID     int      `json:"pid"`
	Mode    string   `json:"mode"`              // "exclusive", "shared" or "mixed"
	Modes   []string `json:"modes,omitempty"`   // the mode of each of Locks, if Mode is mixed; else nil
	Command string   `json:"command,omitempty"` // for run: the command's base name
	// Meta is what the user said about the helper (--meta), by keys.
	Meta map[string]string `json:"meta,omitempty"`

	Lock   string   `json:"lock,omitempty"`      // Waiting, Broke: which lock of a set is not free, or was broken
	Holder Holder   `json:"holder,omitzero"`     // Waiting, Broke, Broken; zero: not known
	User   string   `json:"user,omitempty"`      // Broken: who broke it
	Forced *bool    `json:"forced,omitempty"`    // Broken: nobody checked whether the holder lived
	Reason string   `json:"reason,omitempty"`    // Broken: in the words of the user who broke it
	Why    string   `json:"why,omitempty"`       // Waiting, Broke, Broken: in words
	ID     string   `json:"id,omitempty"`        // Acquired; for a set, the ids of all Locks with commas between; empty: no room
	Token  uint64   `json:"token,omitempty"`     // Acquired; 0: none
	Tokens []uint64 `json:"tokens,omitempty"`    // Acquired: the token of each of Locks, if they are a set; nil: none has one
	Lease  *Millis  `json:"lease_ms,omitzero"`   // Acquired; 0: not known
	Waited *Millis  `json:"waited_ms,omitempty"` // Acquired, GaveUp
	Late   *Millis  `json:"late_ms,omitempty"`   // Late
	Error  string   `json:"error,omitempty"`     // Late, if the heartbeat failed
	Held   *Millis  `json:"held_ms,omitempty"`   // Released
	// Release is the last part of Held, in which the lock was removed. Nothing relied on the lock
	// any more.
	Release *Millis       `json:"release_ms,omitempty"`
	Code    protocol.Code `json:"code,omitempty"`     // Lost, GaveUp
	Text    string        `json:"text,omitempty"`     // Lost, GaveUp: why
	Silent  *Millis       `json:"silent_ms,omitzero"` // Lost: since the last heartbeat that succeeded; 0: not known
}

// A Holder is the holder of a lock, as a waiter sees it. Fields that are not known are zero.
type Holder struct {
	ID   string `json:"id,omitempty"`
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
}

// A Stamp is a time of the calendar, with six digits of a second.
type Stamp struct{ time.Time }

const stampLayout = `"2006-01-02T15:04:05.000000Z"`

// MarshalJSON implements json.Marshaler.
func (s Stamp) MarshalJSON() ([]byte, error) { return s.UTC().AppendFormat(nil, stampLayout), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Stamp) UnmarshalJSON(raw []byte) (err error) {
	s.Time, err = time.Parse(stampLayout, string(raw))
	return err
}

// Millis are milliseconds, in whole microseconds. nil: not known.
type Millis float64

// maxMillis is 31 years.
const maxMillis = 1e12

// In returns a duration as an event has it.
func In(d time.Duration) *Millis { return new(Millis(float64(d.Microseconds()) / 1000)) }

// Span returns the duration; 0 if it is not known.
func (m *Millis) Span() time.Duration {
	if m == nil {
		return 0
	}
	return time.Duration(math.Round(float64(*m)*1000)) * time.Microsecond
}

// IsZero reports that a line leaves the duration out, if 0 says that it is not known.
func (m *Millis) IsZero() bool { return m.Span() == 0 }

func (m *Millis) isInsane() bool { return m != nil && (*m < 0 || *m > maxMillis) }

// mixed is the mode of a set whose locks have different modes.
const mixed = "mixed"

// maxMore is far more than any set has.
const maxMore = 1 << 20

func (e *Event) isSet() bool { return len(e.Locks)+e.More > 1 }

// ModeOf returns the mode of the i-th of Locks.
func (e *Event) ModeOf(i int) string {
	if e.Mode == mixed {
		return e.Modes[i]
	}
	return e.Mode
}

// TokenOf returns the fencing token of the i-th of Locks; 0: it has none.
func (e *Event) TokenOf(i int) uint64 {
	if e.Tokens != nil {
		return e.Tokens[i]
	}
	return e.Token
}

// check refuses events that no helper writes.
func (e *Event) check() error {
	switch {
	case !slices.Contains(Kinds, e.Kind):
		return malformed("event %.40q is not known", e.Kind)
	case len(e.Locks) == 0 || slices.Contains(e.Locks, ""):
		return malformed("locks: there is none, or one without a name")
	case e.PID <= 0:
		return malformed("pid %d is not a process id", e.PID)
	case e.Kind == Acquired && e.ID == "" && !e.isSet():
		return malformed("id is missing")
	case e.Holder.PID < 0:
		return malformed("holder: pid %d is not a process id", e.Holder.PID)
	case (e.Kind == Lost || e.Kind == GaveUp) && e.Code == "":
		return malformed("code is empty")
	case e.Time.IsZero() || e.Boot == nil:
		return malformed("time or boot_ms is missing")
	case (e.Kind == Acquired || e.Kind == GaveUp) && e.Waited == nil, e.Kind == Late && e.Late == nil,
		e.Kind == Released && (e.Held == nil || e.Release == nil), e.Kind == Broken && e.Forced == nil:
		return malformed("a key of %q is missing", e.Kind)
	case slices.ContainsFunc([]*Millis{e.Boot, e.Lease, e.Waited, e.Late, e.Held, e.Release, e.Silent}, (*Millis).isInsane), e.Held.Span() < e.Release.Span():
		return malformed("a time is negative or too long, or release_ms more than held_ms")
	}
	return e.checkSet()
}

// checkSet refuses locks, modes and tokens that no helper writes.
func (e *Event) checkSet() error {
	switch {
	case e.More < 0 || e.More > maxMore:
		return malformed("more is %d", e.More)
	case e.Lock != "" && e.More == 0 && !slices.Contains(e.Locks, e.Lock):
		return malformed("lock is none of locks")
	case e.Mode != mixed && !isMode(e.Mode):
		return malformed("mode %.40q is not exclusive, shared or mixed", e.Mode)
	case (e.Mode == mixed) != (e.Modes != nil):
		return malformed("modes belong to mixed")
	case e.Modes != nil && len(e.Modes) != len(e.Locks), e.Tokens != nil && len(e.Tokens) != len(e.Locks):
		return malformed("modes or tokens are not as many as locks")
	case slices.ContainsFunc(e.Modes, func(m string) bool { return !isMode(m) }):
		return malformed("one of modes is not exclusive or shared")
	case e.Token != 0 && e.isSet(), !e.isSet() && (e.Modes != nil || e.Tokens != nil):
		return malformed("one lock has mode and token, a set modes and tokens")
	}
	return nil
}

func isMode(text string) bool { return text == "exclusive" || text == "shared" }
