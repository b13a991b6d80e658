package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

// lockStatus is one lock in status --json.
type lockStatus struct {
	Lock    string         `json:"lock"`
	State   string         `json:"state"` // free, held or unknown
	Token   uint64         `json:"token,omitempty"`
	Holders []holderStatus `json:"holders"`
	Waiters []holderStatus `json:"waiters"` // in the order of the queue, if it has one
	Error   string         `json:"error,omitempty"`
	seen    backend.Report
	wanted  func(presence) bool // who is shown; nil: all
}

type holderStatus struct {
	ID          string            `json:"id,omitempty"`
	User        string            `json:"user,omitempty"`
	Host        string            `json:"host,omitempty"`
	PID         int               `json:"pid,omitempty"`
	ParentPID   int               `json:"parent_pid,omitempty"`
	Mode        string            `json:"mode,omitempty"`
	Verdict     string            `json:"verdict"` // alive, dead, orphaned or unknown
	AgeMS       int64             `json:"age_ms"`
	HeartbeatMS int64             `json:"heartbeat_ms,omitempty"`
	LeaseMS     int64             `json:"lease_ms,omitempty"`
	Acquired    *time.Time        `json:"acquired,omitempty"` // holders only
	Meta        map[string]string `json:"meta,omitempty"`
	Note        string            `json:"note,omitempty"`
	Advice      string            `json:"advice,omitempty"`
}

// unseen is a lock before anybody looked at it.
func unseen(lock string) lockStatus {
	return lockStatus{Lock: lock, State: "unknown", Holders: []holderStatus{}, Waiters: []holderStatus{}}
}

// lookOp is the operation in the errors of a look.
const lookOp = "look at the lock"

func (s *lockStatus) look(ctx context.Context, b backend.Backend) error {
	r, err := flags.InTime(ctx, s.Lock, lookOp, b.Inspect)
	if err != nil {
		return err
	}
	s.take(r)
	return nil
}

// take puts down what was seen.
func (s *lockStatus) take(r backend.Report) {
	s.State, s.Token, s.seen = "free", r.Token, r
	for _, h := range r.Holders {
		s.State = "held"
		if !s.shows(presence{h, false}) {
			continue
		}
		d := describe(h)
		if h.Record != nil {
			acquired := time.Now().Add(-h.Age).UTC().Truncate(time.Second)
			d.Acquired = &acquired
		}
		s.Holders = append(s.Holders, d)
	}
	for _, h := range r.Waiters {
		if s.shows(presence{h, true}) {
			s.Waiters = append(s.Waiters, describe(h))
		}
	}
}

func (s *lockStatus) shows(p presence) bool { return s.wanted == nil || s.wanted(p) }

func describe(h backend.Holder) holderStatus {
	s := holderStatus{ID: h.ID, PID: h.PID, Verdict: string(h.Verdict), AgeMS: h.Age.Milliseconds(),
		HeartbeatMS: h.Heartbeat.Milliseconds(), Note: h.Note, Advice: h.Advice}
	r := h.Record
	if r == nil {
		return s
	}
	s.User, s.Host, s.ParentPID, s.Mode = r.User, r.Place.Host, r.Parent.PID, r.Mode
	s.LeaseMS, s.Meta = r.Lease.Milliseconds(), map[string]string{}
	for _, m := range r.Meta {
		s.Meta[m.Key] = m.Value
	}
	return s
}

func (s lockStatus) print(out io.Writer) {
	for _, line := range s.lines() {
		fmt.Fprintln(out, line)
	}
}

// lines are what people read.
func (s lockStatus) lines() (lines []string) {
	lock := protocol.CleanText(s.Lock, protocol.MaxLine)
	if len(s.seen.Holders) == 0 && s.wanted == nil {
		lines = append(lines, fmt.Sprintf("%s: %s", lock, s.State))
	}
	for _, h := range s.seen.Holders {
		if !s.shows(presence{h, false}) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: held by %s [%s]%s", lock, h, h.Verdict, s.terms(h)))
	}
	for i, h := range s.seen.Waiters {
		if !s.shows(presence{h, true}) {
			continue
		}
		place := "waiting"
		if s.seen.Queued {
			place = fmt.Sprintf("%d. in the queue", i+1)
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s [%s]%s", lock, place, h, h.Verdict, mode(h)))
	}
	return lines
}

// terms are the mode and the token, where there is one.
func (s lockStatus) terms(h backend.Holder) string {
	if s.Token == 0 {
		return ""
	}
	return fmt.Sprintf("%s, token %d", mode(h), s.Token)
}

func mode(h backend.Holder) string {
	if h.Record == nil {
		return ""
	}
	return " " + protocol.CleanText(h.Record.Mode, 20)
}
