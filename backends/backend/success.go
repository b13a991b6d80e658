package backend

import (
	"context"
	"time"

	"locksmith/protocol"
)

// A Success is the last time that what a lock guards succeeded under it.
type Success struct {
	// Ago is by the clock of the lock's place alone. Below 0: that clock was set back since.
	// Where that place tells times to the minute, it is the least that it can be.
	Ago  time.Duration
	Host string // by whom; empty: not known
}

// String is for people: "last success 12m0s ago by web3".
func (s Success) String() string {
	text := "last success " + s.Ago.Round(time.Second).String() + " ago"
	if s.Ago < 0 {
		text = "last success in the future"
	}
	if s.Host != "" {
		text += " by " + s.Host
	}
	return protocol.CleanText(text, maxDescription)
}

// A SuccessKeeper is a Backend whose place keeps the last success of what the lock guards,
// also while the lock is free. Nothing depends on it when the lock is taken, kept or broken.
type SuccessKeeper interface {
	// LastSuccess returns what is on record for the lock that h holds exclusively, or nil.
	LastSuccess(ctx context.Context, h Hold) (*Success, error)
	// RecordSuccess puts down a success of now, after a heartbeat of h: if that finds the
	// lock gone, nothing is put down.
	RecordSuccess(ctx context.Context, h Hold) error
}
