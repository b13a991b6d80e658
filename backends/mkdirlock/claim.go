package mkdirlock

import (
	"context"
	"errors"
	"io"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A claim is our entry: in a reservation, or in the lock.
type claim struct {
	owner.Pulse // confirmed by each request that proves our entry there

	lock   *Lock
	dir    dirs.Dir
	entry  labels.Entry
	home   string    // our reservation; empty: none
	at     string    // the directory where our entry is: home or the lock
	inLock bool      // it may be in the lock
	pin    io.Closer // of the directory that was made as home, whatever its name is now; nil: none
	record owner.Record
	parts  []string // of the record

	// beats are the names that our heartbeat may have: one of them exists, and there are several
	// after an answer was lost. The number next was not used yet.
	beats []string
	next  uint64
	// unwritten are the names of the further parts of the record that may be missing.
	unwritten []string
	// shown is when we sent the last heartbeat that succeeded.
	shown time.Duration
}

func (a *attempt) newClaim(k labels.Kind) (*claim, error) {
	//rule:id
	r, parts, err := backend.Signed(a.lock.Address, a.lock.Env, a.request.Owner, labels.Pack)
	if err != nil {
		return nil, err
	}
	return &claim{Pulse: owner.Pulse{Clock: a.request.Clock, Lease: r.Lease, Confirmed: a.request.Clock.Now()},
		lock: a.lock, dir: a.dir, record: r, parts: parts, unwritten: labels.ExtraNames(parts),
		entry: labels.Entry{Kind: k, Ticket: labels.Ticket{Lease: r.Lease, ID: r.ID}}}, nil
}

// unpin lets others remove the lock's directory as abandoned, if it was once our
// reservation.
func (c *claim) unpin() {
	dirs.Unpin(c.pin)
	c.pin = nil
}

func (c *claim) path() string { return c.at + "/" + c.entry.String() }

// acquiredNow corrects the time in the record, which so far is when we began to try.
func (c *claim) acquiredNow() {
	now := c.lock.Today()
	if now.Sub(c.record.Acquired).Abs() < time.Millisecond {
		return // records have whole milliseconds
	}
	c.record.Acquired = now
	if parts, err := labels.Pack(c.record); err == nil && len(parts) == 1 && len(c.parts) == 1 {
		c.parts = parts
	}
}

// refresh makes a heartbeat, which proves that our entry is there. dirs.ErrAbsent means that our
// entry is gone, or was silent for so long that somebody may have decided to remove it and will
// do so.
func (c *claim) refresh(ctx context.Context) error {
	sent := c.Clock.Now()
	if err := c.beat(ctx); err != nil {
		return err
	}
	//rule:late
	if c.late() {
		return dirs.ErrAbsent
	}
	c.Confirmed, c.shown = sent, sent
	return nil
}

// late reports that our entry was silent for a lease, and so may be broken. A reservation
// in plain style is never broken for its silence.
func (c *claim) late() bool {
	if c.at == c.home && c.lock.Style == PlainStyle {
		return false
	}
	return c.Overdue()
}

// beat makes a heartbeat. Before the first one it writes the record. Parts that may be missing
// then it writes after later heartbeats: a holder can do without them.
func (c *claim) beat(ctx context.Context) error {
	first := len(c.beats) == 0
	if first {
		if err := c.writeRecord(ctx); err != nil {
			return err
		}
	}
	if err := c.count(ctx); err != nil {
		return err
	}
	if !first {
		_ = c.writeRecord(ctx)
	}
	return nil
}

// count renames the heartbeat to the next number, or makes it if there is none.
func (c *claim) count(ctx context.Context) error {
	//rule:count
	name := labels.BeatName(c.next, c.parts)
	for _, last := range c.beats {
		err := c.dir.Rename(ctx, c.path()+"/"+last, c.path()+"/"+name)
		if !dirs.Refused(err) {
			return c.counted(name, err)
		}
	}
	err := c.dir.Mkdir(ctx, c.path()+"/"+name)
	if dirs.Refused(err) {
		if err := c.whyRefused(ctx, name, err); backend.CodeOf(err) != protocol.CannotCreate {
			return err
		}
		// Our entry is there now: the request that made it was executed late.
		if err = c.dir.Mkdir(ctx, c.path()+"/"+name); dirs.Refused(err) {
			return c.whyRefused(ctx, name, err)
		}
	}
	return c.counted(name, err)
}

// counted notes which heartbeats may exist now.
func (c *claim) counted(name string, err error) error {
	switch {
	case err == nil:
		c.beats = []string{name}
		c.next++
		return nil
	case dirs.Unclear(err):
		c.beats = append(c.beats, name)
		c.next++
	}
	return c.lock.fail("refresh our entry", err)
}

// whyRefused finds out why a heartbeat was refused: nil if the heartbeat is there nevertheless,
// dirs.ErrAbsent if our entry is gone.
func (c *claim) whyRefused(ctx context.Context, name string, cause error) error {
	switch made, err := c.lock.exists(ctx, c.dir, c.path()+"/"+name); {
	case err != nil:
		return c.lock.fail("look at our entry", err)
	case made:
		return c.counted(name, nil) // a server that crashed refuses what it has done
	}
	if err := c.lock.mustBeThere(ctx, c.dir, c.path(), "look for our entry"); err != nil {
		//rule:gone
		return err
	}
	return c.lock.Address.Failure(protocol.CannotCreate, "refresh our entry", cause,
		"without heartbeats nobody knows that we live: may this user make and rename directories there?")
}

// writeRecord makes the parts of the record that do not fit into the name of the heartbeat. A
// part that may still be missing is made after the next heartbeat: without it we can never be
// proven dead.
func (c *claim) writeRecord(ctx context.Context) error {
	var missing []string
	for _, name := range c.unwritten {
		err := c.dir.Mkdir(ctx, c.path()+"/"+name)
		switch {
		case err == nil:
			continue
		case !dirs.Refused(err) && !dirs.Unclear(err):
			return c.lock.fail("write owner record", err)
		case dirs.Refused(err):
			if there, err := c.lock.exists(ctx, c.dir, c.path()+"/"+name); err == nil && there {
				continue // a server that crashed refuses what it has done
			}
		}
		missing = append(missing, name)
	}
	c.unwritten = missing
	return nil
}

// remove removes our entry from where it is. nil means that our removal succeeded.
func (c *claim) remove(ctx context.Context) error {
	inside := append(labels.ExtraNames(c.parts), c.beats...)
	return c.lock.removeEntry(ctx, c.dir, c.at, c.entry.String(), inside)
}

// withdraw removes our entry and our reservation, if there are any. emptied: the entry was in the
// lock. It looks for the entry in the reservation first, then in the lock: a rename that is
// executed late moves the entry that way.
func (c *claim) withdraw(ctx context.Context) (emptied bool, err error) {
	err = dirs.ErrAbsent
	if c.home != "" {
		c.at = c.home
		err = c.remove(ctx)
	}
	if errors.Is(err, dirs.ErrAbsent) && c.inLock {
		c.at = c.lock.lock()
		err = c.remove(ctx)
		emptied = err == nil
	}
	if err != nil && !errors.Is(err, dirs.ErrAbsent) {
		return false, err
	}
	c.inLock = false
	if c.home == "" {
		return emptied, nil
	}
	return emptied, c.lock.removeIfEmpty(ctx, c.dir, c.home, "remove our reservation")
}
