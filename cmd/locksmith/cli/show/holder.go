package show

import (
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/protocol"
)

// A Participant is somebody who holds a lock or waits for it.
type Participant struct {
	backend.Holder
	Waits bool
}

// Role is holder or waiter.
func (p Participant) Role() string {
	if p.Waits {
		return "waiter"
	}
	return "holder"
}

// String is for people, as in "held by alice@web3 (pid 4242) for 3m12s".
func (p Participant) String() string {
	if p.Waits {
		return "waiting: " + p.Holder.String()
	}
	return "held by " + p.Holding(time.Now())
}

// Line tells people of somebody at a lock, and whether it lives.
func (p Participant) Line(lock string) string {
	return fmt.Sprintf("%s: %s [%s]", Text(lock), p, condition.Of(p.Holder).Verdict())
}

// Mode is what may follow a Line: a space and the mode, if it is known.
func (p Participant) Mode() string {
	if p.Record == nil {
		return ""
	}
	return " " + protocol.CleanText(p.Record.Mode, 20)
}

// A Holder is a holder or a waiter in JSON.
type Holder struct {
	ID          string            `json:"id,omitempty"`
	User        string            `json:"user,omitempty"`
	Host        string            `json:"host,omitempty"`
	PID         int               `json:"pid,omitempty"`
	ParentPID   int               `json:"parent_pid,omitempty"`
	Program     string            `json:"program,omitempty"`
	ProgramPID  int               `json:"program_pid,omitempty"`
	Mode        string            `json:"mode,omitempty"`
	Verdict     string            `json:"verdict"` // alive, stopped, dead, left over or unknown
	Blocked     bool              `json:"blocked,omitempty"`
	AgeMS       int64             `json:"age_ms"`
	HeartbeatMS int64             `json:"heartbeat_ms,omitempty"`
	KeptBy      []int             `json:"kept_by,omitempty"`   // pids, of flock:
	SilentMS    int64             `json:"silent_ms,omitempty"` // at least, by this machine's clock
	LeaseMS     int64             `json:"lease_ms,omitempty"`
	MaxHoldMS   int64             `json:"max_hold_ms,omitempty"`
	Acquired    *time.Time        `json:"acquired,omitempty"` // holders of status and list only
	Meta        map[string]string `json:"meta,omitempty"`
	Note        string            `json:"note,omitempty"`
	Advice      string            `json:"advice,omitempty"`
	state       condition.State
}

// NewHolder describes who was seen, without when it acquired the lock.
func NewHolder(h backend.Holder) *Holder {
	state := condition.Of(h)
	s := &Holder{ID: h.ID, PID: h.PID, Verdict: state.Verdict(), Blocked: state.IsBlocked(), state: state, AgeMS: h.Age.Milliseconds(),
		HeartbeatMS: h.Heartbeat.Milliseconds(), SilentMS: h.Silent.Milliseconds(), KeptBy: h.Kept, Note: h.Note, Advice: h.Advice}
	r := h.Record
	if r == nil {
		return s
	}
	s.User, s.Host, s.ParentPID, s.Program, s.Mode = r.User, r.Place.Host, r.Parent.PID, r.Program, r.Mode
	if r.Program != "" {
		s.ProgramPID = r.Guarded().PID
	}
	if !h.OfKernel { // no lease counts there
		s.LeaseMS = r.Lease.Milliseconds()
	}
	s.MaxHoldMS, s.Meta = r.MaxHold.Milliseconds(), map[string]string{}
	for _, m := range r.Meta {
		s.Meta[m.Key] = m.Value
	}
	return s
}
