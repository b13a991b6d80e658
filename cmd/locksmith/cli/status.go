package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	var r reach
	var g guarded
	var w watchFlags
	c := &cobra.Command{
		Use:   "status [flags] LOCK…",
		Short: "Show who holds a lock",
		Long: "Show for each LOCK who holds it and who waits for it. With --watch go on looking, and show\n" +
			"it again: on a terminal in place, until Ctrl-C, and elsewhere when something else than a\n" +
			"time has changed, until a signal comes or nobody reads it any more. A look that fails is\n" +
			"shown, too. At an FTP server each look is a login.",
		Example: "  locksmith status local:/var/lock/billing\n" +
			"  locksmith status --watch nfs:/shared/locks/billing nfs:/shared/locks/stock",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := g.locks(args)
			return err
		},
	}
	r.flags(c)
	g.flags(c)
	w.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document; with --watch one line for each change")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := w.check(c); err != nil {
			return err
		}
		args, err := g.locks(args)
		if err != nil {
			return err
		}
		locks := []lockStatus{}
		if w.watch {
			return a.watchStatus(&r, args, time.Duration(w.every), asJSON)
		}
		for _, lock := range args {
			s, err := r.inspect(cmd.Context(), lock)
			if err != nil {
				report(err)
				s.Error, a.status = err.Error(), max(a.status, exitStatus(err))
			}
			locks = append(locks, s)
		}
		if asJSON {
			return printJSON(map[string]any{"locks": locks})
		}
		for _, s := range locks {
			s.print()
		}
		return nil
	}
	return c
}

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
	Verdict     string            `json:"verdict"` // alive, dead or unknown
	AgeMS       int64             `json:"age_ms"`
	HeartbeatMS int64             `json:"heartbeat_ms,omitempty"`
	LeaseMS     int64             `json:"lease_ms,omitempty"`
	Acquired    *time.Time        `json:"acquired,omitempty"` // holders only
	Meta        map[string]string `json:"meta,omitempty"`
	Note        string            `json:"note,omitempty"`
}

// unseen is a lock before anybody looked at it.
func unseen(lock string) lockStatus {
	return lockStatus{Lock: lock, State: "unknown", Holders: []holderStatus{}, Waiters: []holderStatus{}}
}

func (r *reach) inspect(ctx context.Context, lock string) (lockStatus, error) {
	s := unseen(lock)
	t, err := r.find(lock)
	if err != nil {
		return s, err
	}
	b, canonical, err := t.open()
	if err != nil {
		s.Lock = shownIn(err, lock)
		return s, err
	}
	s.Lock = canonical
	err = s.look(ctx, b)
	return s, err
}

// shownIn is the lock as the innermost error about it shows it: without what
// may be a password.
func shownIn(err error, lock string) string {
	for {
		e, ok := errors.AsType[*backend.Error](err)
		if !ok {
			return lock
		}
		lock, err = e.Lock, e.Err
	}
}

func (s *lockStatus) look(ctx context.Context, b backend.Backend) error {
	r, err := inspectInTime(ctx, b, s.Lock)
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

// inspectTime is how long a lock's place may take to answer.
const inspectTime = 30 * time.Second

// inspectInTime leaves a look behind that hangs, as it does on a dead server.
func inspectInTime(ctx context.Context, b backend.Backend, lock string) (backend.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	type answer struct {
		report backend.Report
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := b.Inspect(ctx)
		done <- answer{r, err}
	}()
	select {
	case a := <-done:
		return a.report, a.err
	case <-ctx.Done():
		return backend.Report{}, noAnswer(lock, inspectTime)
	}
}

func noAnswer(lock string, after time.Duration) error {
	return &backend.Error{Code: protocol.Unreachable, Lock: lock, Op: "look at the lock",
		Err: fmt.Errorf("no answer within %v", after), Hint: "look at the server and the mount"}
}

func describe(h backend.Holder) holderStatus {
	s := holderStatus{ID: h.ID, PID: h.PID, Verdict: string(h.Verdict), AgeMS: h.Age.Milliseconds(),
		HeartbeatMS: h.Heartbeat.Milliseconds(), Note: h.Note}
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

func (s lockStatus) print() {
	for _, line := range s.lines() {
		fmt.Println(line)
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
