package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/protocol"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "status [flags] LOCK…",
		Short:   "Show who holds a lock",
		Example: "  locksmith status local:/var/lock/billing",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("need at least one lock")}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		locks := []lockStatus{}
		for _, address := range args {
			s, err := inspect(cmd.Context(), address)
			if err != nil {
				report(err)
				s.Error, a.status = err.Error(), exitStatus(err)
			}
			locks = append(locks, s)
		}
		if asJSON {
			enc := json.NewEncoder(os.Stdout)
			enc.SetIndent("", "  ")
			return enc.Encode(map[string]any{"locks": locks})
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
	Holders []holderStatus `json:"holders"`
	Error   string         `json:"error,omitempty"`
	seen    []backend.Holder
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
	Acquired    *time.Time        `json:"acquired,omitempty"`
	Meta        map[string]string `json:"meta,omitempty"`
	Note        string            `json:"note,omitempty"`
}

func inspect(ctx context.Context, address string) (lockStatus, error) {
	s := lockStatus{Lock: address, State: "unknown", Holders: []holderStatus{}}
	b, canonical, err := backends.Open(address)
	if err != nil {
		return s, err
	}
	s.Lock = canonical
	r, err := b.Inspect(ctx)
	if err != nil {
		return s, err
	}
	s.State, s.seen = "free", r.Holders
	for _, h := range r.Holders {
		s.State = "held"
		s.Holders = append(s.Holders, describe(h))
	}
	return s, nil
}

func describe(h backend.Holder) holderStatus {
	s := holderStatus{PID: h.PID, Verdict: string(h.Verdict), AgeMS: h.Age.Milliseconds(),
		HeartbeatMS: h.Heartbeat.Milliseconds(), Note: h.Note}
	r := h.Record
	if r == nil {
		return s
	}
	s.ID, s.User, s.Host, s.ParentPID, s.Mode = r.ID, r.User, r.Place.Host, r.Parent.PID, r.Mode
	s.LeaseMS, s.Acquired, s.Meta = r.Lease.Milliseconds(), &r.Acquired, map[string]string{}
	for _, m := range r.Meta {
		s.Meta[m.Key] = m.Value
	}
	return s
}

func (s lockStatus) print() {
	lock := protocol.CleanText(s.Lock, protocol.MaxLine)
	if len(s.seen) == 0 {
		fmt.Printf("%s: %s\n", lock, s.State)
	}
	for _, h := range s.seen {
		fmt.Printf("%s: held by %s [%s]\n", lock, h, h.Verdict)
	}
}
