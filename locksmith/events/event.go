package events

import (
	"time"

	"locksmith/protocol"
)

// A Kind says what happened.
type Kind string

// The kinds of events; see the package's comment.
const (
	Waiting  Kind = "waiting"
	Acquired Kind = "acquired"
	Late     Kind = "late"
	Lost     Kind = "lost"
	Released Kind = "released"
	GaveUp   Kind = "gave-up"
)

// IsLast reports that a helper says nothing after such an event.
func (k Kind) IsLast() bool { return k == Lost || k == Released || k == GaveUp }

// An Event is something that happened to a helper. Which of the fields from
// Holder on it has depends on its kind.
type Event struct {
	Time    time.Time     // whole microseconds
	Boot    time.Duration // reading of Clock; whole microseconds, as all durations here
	Clock   string        // names a clock; empty: Boot cannot be compared
	Kind    Kind
	Locks   []string // canonical addresses
	More    int      // locks of the set that had no room beside them
	Host    string
	PID     int
	Mode    string   // "exclusive", "shared" or "mixed"
	Modes   []string // of each of Locks, if mixed; else nil
	Command string   // of run: base name

	Lock   string        // Waiting: of a set, the one that is not free
	Holder *Holder       // Waiting; nil: not known
	ID     string        // Acquired; of a set, those of all Locks with commas between; empty: no room
	Token  uint64        // Acquired; 0: none
	Tokens []uint64      // Acquired: of each of Locks, if they are a set; nil: none has one
	Waited time.Duration // Acquired, GaveUp
	Late   time.Duration // Late
	Held   time.Duration // Released
	// Release is the last part of Held, in which the lock was removed: from when it
	// was not wanted any more.
	Release time.Duration
	Code    protocol.Code // Lost, GaveUp
	Text    string        // Waiting: why; Lost, GaveUp; of Late: the error, if it failed
}

// A Holder is who holds a lock, as a waiter sees it. What is not known is zero.
type Holder struct {
	ID   string `json:"id,omitempty"`
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
}
