package generation

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// A Reservation is ours, in one form. It has a Claim.
type Reservation interface {
	comparable
	Own() *Claim
	// Remove removes all that carries our ticket. A name that is not there is no error.
	Remove(ctx context.Context) error
	// Beat sends a heartbeat. ErrBroken means that the reservation must not be used any more.
	Beat(ctx context.Context) error
}

// A Claim is what is known of our reservation in either form.
type Claim struct {
	owner.Pulse
	ID     string // of the acquisition
	Record string // who we are
	// Spoiled: it was never complete, nobody knows whether it was made, or a request that
	// removes it was sent.
	Spoiled bool
}

// NewClaim returns a claim that is confirmed from now on.
func NewClaim(c clock.Clock, lease time.Duration, id, record string) Claim {
	return Claim{Pulse: owner.Pulse{Clock: c, Lease: lease, Confirmed: c.Now()}, ID: id, Record: record}
}

// Refresh sends a heartbeat. ErrBroken means that we were silent for so long that somebody may
// have decided to remove our reservation, and will do so.
func (c *Claim) Refresh(ctx context.Context, send func(context.Context) error) error {
	sent := c.Clock.Now()
	if err := send(ctx); err != nil {
		return err
	}
	//rule:overdue
	if c.Overdue() {
		return ErrBroken
	}
	c.Confirmed = sent
	return nil
}

// Own is for Reservation.
func (c *Claim) Own() *Claim { return c }

// PlaceTime estimates the time by the clock of the lock's place, which gave our last heartbeat the
// time beat.
func (c *Claim) PlaceTime(beat time.Time) time.Time { return beat.Add(c.Clock.Now() - c.Confirmed) }

// Silent reports that a waiter does not count in the queue: by the clock of the lock's place, its
// last sign of life is older than its lease. It stays, because that is no proof.
func Silent(now, beat time.Time, lease time.Duration) bool { return now.Sub(beat) >= lease }

func (c *Claim) untilBeat() time.Duration {
	return c.Confirmed + owner.BeatsEvery(c.Lease) - c.Clock.Now()
}
