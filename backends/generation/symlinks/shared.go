//go:build unix

package symlinks

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
)

// takeShared acquires the lock together with other shared holders:
//
//	1  t = the newest generation; none -> F
//	2  it points to a shared directory: make our member in it; gone -> F
//	   it points to a reservation: exists -> held; gone -> F
//	3  change the directory of generations, then list it: t is the newest, else
//	   leave and start again with a new ticket
//	4  touch our member, the first heartbeat: gone -> new ticket
//	F  prepare a shared directory with our member in it, under another name;
//	   rename it; then as steps 5 to 8 of takeExclusive
//
// The directory gets its final name only with a member in it. An empty shared directory has
// ended, and a repeated mkdir could bring back one that has ended.
func (a *attempt) takeShared(ctx context.Context) (*hold, error) {
	if err := a.withdrawOld(ctx); err != nil {
		return nil, err
	}
	_, t, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	var target entry
	if t > 0 {
		target, err = a.lock.target(ctx, t)
		if err != nil {
			return nil, err
		}
		if target.kind == shared {
			h, err := a.join(ctx, t, target)
			if h != nil || err != nil {
				return h, err
			}
		} else if err := a.pass(ctx, t, target); err != nil {
			return nil, err
		}
	}
	if err := a.reserve(ctx, staging, t); err != nil {
		return nil, err
	}
	if err := a.turn(ctx, t, target); err != nil {
		return nil, err
	}
	return a.publishShared(ctx, t+1)
}

// withdrawOld leaves the shared directory that an earlier Try was in when it failed.
func (a *attempt) withdrawOld(ctx context.Context) error {
	if a.Mine != nil && a.Mine.in.kind == shared {
		return a.Attempt.Withdraw(ctx)
	}
	return nil
}

// join is steps 2 to 4. Neither a hold nor an error means that the shared
// directory is gone.
func (a *attempt) join(ctx context.Context, t uint64, target entry) (*hold, error) {
	if err := a.lookAround(ctx); err != nil {
		return nil, err
	}
	if err := a.holdBackForWriters(ctx, t, target); err != nil {
		return nil, err
	}
	entered, err := a.enter(ctx, t, target)
	if !entered || err != nil {
		return nil, err
	}
	h, err := a.confirmUnseen(ctx, t)
	if errors.Is(err, backend.ErrAgain) {
		err = generation.ErrBroken // we are in an old generation: leave it
	}
	return h, err
}

// enter makes our member in a shared directory, unless that is gone.
func (a *attempt) enter(ctx context.Context, t uint64, target entry) (bool, error) {
	c, err := a.candidate(ctx, t, target)
	if err != nil {
		return false, err
	}
	bell := a.lock.hang(entry{shared, c.ticket})
	err = a.lock.Dir.Mkdir(ctx, c.path())
	if maybeCreated(err) {
		a.Mine = c
		err := c.removeStaging(ctx)
		c.replace(bell)
		return true, err
	}
	bell.Ring()
	switch {
	case !absent(err):
		return false, a.undo(ctx, c, "join the shared holders", err)
	case c.staged: // the staged directory is still our place in the queue
		return false, nil
	}
	return false, c.Remove(ctx)
}

// candidate is our claim to be a member, under the ticket with which we wait.
func (a *attempt) candidate(ctx context.Context, t uint64, target entry) (*claim, error) {
	if a.Mine != nil {
		c := a.claimOf(target, a.Mine.ticket, a.Mine.Record)
		c.staged, c.bell = true, a.Mine.bell
		return c, nil
	}
	place, record, err := a.register(ctx, t)
	return a.claimOf(target, place, record), err
}

// publishShared is step F.
func (a *attempt) publishShared(ctx context.Context, n uint64) (*hold, error) {
	e := entry{shared, a.Mine.ticket}
	//rule:staged
	err := a.lock.Dir.Rename(ctx, a.Mine.in.path(), e.path())
	switch {
	case absent(err):
		return nil, generation.ErrBroken
	case err != nil && !backend.Unclear(err):
		return nil, a.lock.Fail("name the shared reservation", err)
	}
	a.Mine.in, a.Mine.staged = e, err != nil
	a.Mine.replace(a.lock.hang(e))
	if err := a.Mine.ensure(ctx, err); err != nil {
		return nil, err
	}
	h, err := a.publish(ctx, n)
	if errors.Is(err, backend.ErrAgain) {
		err = generation.ErrBroken // the ticket of the directory is used up, whichever generation points to it
	}
	return h, err
}
