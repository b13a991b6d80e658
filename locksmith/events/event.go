package events

import (
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

func kinds() []Kind { return []Kind{Waiting, Broke, Broken, Acquired, Late, Lost, Released, GaveUp} }

// IsLast reports whether a process says nothing after such an event.
func (k Kind) IsLast() bool { return k == Lost || k == Released || k == GaveUp || k == Broken }

// An Event is something that happened to a helper. Of the fields from Lock on, it has those of
// its kind.
type Event struct {
	Time    time.Time     // whole microseconds
	Boot    time.Duration // reading of Clock; whole microseconds, as all durations here
	Clock   string        // names a clock; empty: Boot cannot be compared
	Kind    Kind
	Locks   []string // canonical addresses
	More    int      // how many more locks the set has, for which the line had no room
	Host    string
	PID     int
	Mode    string   // "exclusive", "shared" or "mixed"
	Modes   []string // the mode of each of Locks, if Mode is mixed; else nil
	Command string   // for run: the command's base name
	// Meta is what the user said about the helper (--meta), by keys.
	Meta map[string]string

	Lock   string        // Waiting, Broke: which lock of a set is not free, or was broken
	Holder *Holder       // Waiting, Broke, Broken; nil: not known
	User   string        // Broken: who broke it
	Forced bool          // Broken: nobody checked whether the holder lived
	Reason string        // Broken: in the words of the user who broke it
	ID     string        // Acquired; for a set, the ids of all Locks with commas between; empty: no room
	Token  uint64        // Acquired; 0: none
	Tokens []uint64      // Acquired: the token of each of Locks, if they are a set; nil: none has one
	Lease  time.Duration // Acquired; 0: not known
	Waited time.Duration // Acquired, GaveUp
	Late   time.Duration // Late
	Held   time.Duration // Released
	// Release is the last part of Held, in which the lock was removed. Nothing relied on the lock
	// any more.
	Release time.Duration
	Silent  time.Duration // Lost: since the last heartbeat that succeeded; 0: not known
	Code    protocol.Code // Lost, GaveUp
	Text    string        // Waiting, Broke, Broken: in words; Lost, GaveUp: why; Late: the error, if the heartbeat failed
}

// A Holder is the holder of a lock, as a waiter sees it. Fields that are not known are zero.
type Holder struct {
	ID   string `json:"id,omitempty"`
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
}

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
	case !slices.Contains(kinds(), e.Kind):
		return malformed("event %.40q is not known", e.Kind)
	case len(e.Locks) == 0 || slices.Contains(e.Locks, ""):
		return malformed("locks: there is none, or one without a name")
	case e.PID <= 0:
		return malformed("pid %d is not a process id", e.PID)
	case e.Kind == Acquired && e.ID == "" && !e.isSet():
		return malformed("id is missing")
	case e.Holder != nil && e.Holder.PID < 0:
		return malformed("holder: pid %d is not a process id", e.Holder.PID)
	case (e.Kind == Lost || e.Kind == GaveUp) && e.Code == "":
		return malformed("code is empty")
	case e.Boot < 0 || e.Waited < 0 || e.Late < 0 || e.Release < 0 || e.Held < e.Release || e.Lease < 0 || e.Silent < 0:
		return malformed("a time is negative, or release_ms more than held_ms")
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
