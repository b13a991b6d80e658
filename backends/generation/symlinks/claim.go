//go:build unix

package symlinks

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/posix"
	"locksmith/protocol"
)

// A claim is what we have in Reservations under one ticket.
type claim struct {
	generation.Claim
	lock   *Lock
	ticket ticket
	// in is our own reservation, or the shared directory where we are a member.
	in entry
	// staged: there may also be a place in the queue under our ticket.
	staged bool
	// beat is the last heartbeat by the server's clock, once somebody has looked; else zero.
	beat time.Time
	// bell rings when our place in the queue ends, or our hold.
	bell posix.Bell
}

// path is the directory whose time is our heartbeat.
func (c *claim) path() string {
	if c.in.kind == exclusive {
		return c.in.path()
	}
	return c.in.member(c.ticket)
}

// Beat implements generation.Reservation. It fails if the claim is gone.
func (c *claim) Beat(ctx context.Context) error {
	err := c.Refresh(ctx, func(ctx context.Context) error {
		err := c.lock.Dir.Touch(ctx, c.path())
		switch {
		case gone(err):
			return generation.ErrBroken
		case err != nil:
			return c.lock.touchError(err)
		}
		return nil
	})
	if err == nil {
		c.beat = time.Time{}
	}
	return err
}

func (l *Lock) touchError(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) ||
		errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) {
		return &backend.Error{Code: protocol.CannotCreate, Lock: string(l.Address), Op: "set the time of our reservation", Err: err,
			Hint: "without times there are no heartbeats: choose another file system"}
	}
	return l.Fail("set the time of our reservation", err)
}

// present returns generation.ErrBroken if the claim is gone.
func (c *claim) present(ctx context.Context) error {
	_, err := c.lock.Dir.Look(ctx, c.path())
	switch {
	case gone(err):
		return generation.ErrBroken
	case err != nil:
		return c.lock.Fail("look at our reservation", err)
	}
	return nil
}

// Remove implements generation.Reservation.
func (c *claim) Remove(ctx context.Context) error {
	if err := c.lock.remove(ctx, c.in, c.ticket); err != nil && !absent(err) {
		return c.lock.Fail("remove our reservation", err)
	}
	if err := c.removeStaging(ctx); err != nil {
		return err
	}
	c.bell.Ring()
	if err := c.lock.Dir.Unlink(ctx, c.ticket.record()); err != nil && !absent(err) {
		return c.lock.Fail("remove our record", err)
	}
	return nil
}

// removeStaging removes our place in the queue, if that is apart from the claim.
func (c *claim) removeStaging(ctx context.Context) error {
	if !c.staged {
		return nil
	}
	if err := c.lock.remove(ctx, entry{staging, c.ticket}, c.ticket); err != nil && !absent(err) {
		return c.lock.Fail("remove our place in the queue", err)
	}
	c.staged = false
	return nil
}

// remove removes what ticket t has in Reservations: an exclusive reservation, or a member, and
// then the shared directory if that was its last. Its error is that of the first removal, as the
// system gave it.
func (l *Lock) remove(ctx context.Context, e entry, t ticket) error {
	if e.kind == exclusive {
		return l.Dir.Rmdir(ctx, e.path())
	}
	err := l.Dir.Rmdir(ctx, e.member(t))
	if err == nil || absent(err) {
		if last := l.Dir.Rmdir(ctx, e.path()); last != nil && !absent(last) && !notEmpty(last) && err == nil {
			return last
		}
	}
	return err
}

// reserve makes our reservation if we have none. It makes the record first, so whoever sees the
// reservation can tell whose it is.
func (a *attempt) reserve(ctx context.Context, k kind, newest uint64) error {
	if a.Mine != nil {
		return nil
	}
	t, record, err := a.register(ctx, newest)
	if err != nil {
		return err
	}
	c := a.claimOf(entry{k, t}, t, record)
	c.bell = a.lock.hang(c.in)
	var doubt error
	for _, dir := range c.dirs() {
		err := a.lock.Dir.Mkdir(ctx, dir)
		if !maybeCreated(err) {
			return a.undo(ctx, c, "make reservation", err)
		}
		doubt = cmp.Or(doubt, err)
	}
	a.Mine = c
	return c.ensure(ctx, doubt)
}

// ensure makes sure that the claim exists, after an unclear answer to the request that made it.
// Otherwise that request might still be on its way, and arrive after others have found that the
// reservation of our generation is gone. If we cannot be sure, the next try makes another one.
func (c *claim) ensure(ctx context.Context, doubt error) error {
	//rule:doubt
	if doubt == nil {
		return nil
	}
	err := c.Beat(ctx)
	//rule:spoiled
	c.Spoiled = err != nil
	return err
}

// dirs are the directories of a reservation, in the order they are made.
func (c *claim) dirs() []string {
	if c.in.kind == exclusive {
		//rule:first
		return []string{c.in.path()}
	}
	return []string{c.in.path(), c.path()}
}

func (a *attempt) claimOf(e entry, t ticket, record string) *claim {
	return &claim{Claim: generation.NewClaim(a.Request.Clock, t.lease, t.id, record), lock: a.lock, ticket: t, in: e}
}

// undo removes what was made of a claim before an error, or leaves that to Withdraw.
func (a *attempt) undo(ctx context.Context, c *claim, op string, err error) error {
	a.Mine, c.Spoiled = c, true
	if absent(err) { // the directory vanished, or somebody removed it
		return cmp.Or(a.Attempt.Withdraw(ctx), backend.ErrAgain)
	}
	return errors.Join(a.lock.Fail(op, err), a.Attempt.Withdraw(ctx))
}

// register writes the record of a new ticket. The place in the queue stays that of the first
// ticket.
func (a *attempt) register(ctx context.Context, newest uint64) (t ticket, record string, err error) {
	if a.place == nil {
		a.place = &ticket{since: newest, at: max(a.lock.Today().UnixMicro(), 0), lease: a.Request.Owner.Lease}
	}
	t = *a.place
	//rule:id
	r, record, err := backend.Signed(a.lock.Address, a.lock.Env, a.Request.Owner, owner.Record.Format)
	if err != nil {
		return t, record, err
	}
	t.id = r.ID
	record = strings.TrimSuffix(record, "\n")
	err = a.lock.Dir.Symlink(ctx, record, t.record())
	if absent(err) {
		if err := a.lock.Dir.Prepare(ctx); err != nil {
			return t, record, a.lock.Fail(makeOp, err)
		}
		err = a.lock.Dir.Symlink(ctx, record, t.record())
	}
	switch {
	case maybeCreated(err):
		return t, record, nil
	case errors.Is(err, unix.ENAMETOOLONG):
		return t, record, a.lock.Address.LongRecord("this file system has no room for it in a symbolic link")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return t, record, &backend.Error{Code: protocol.CannotCreate, Lock: string(a.lock.Address), Op: "write owner record", Err: err,
			Hint: "the file system may have no symbolic links: choose another one"}
	}
	return t, record, a.lock.Fail("write owner record", err)
}
