//go:build unix

package link

import (
	"context"
	"errors"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
)

// An attempt implements backend.Attempt.
type attempt struct {
	lock    *Lock
	request backend.Request
	pauses  backoff.Schedule
	crowd   backoff.Crowd
	fs      FS // nil before the first call
	others  watcher
	mine    *claim // the claim of the last Try, which shows that we wait
	// prior are claims whose own names are gone. One of them may still be the lock: its request
	// may have been executed late, or the answer lost.
	prior  []*claim
	left   []leftover
	seen   observation // the holder
	known  bool        // it was seen
	sticky string      // the sign of a dead holder's lock that we may not remove
	tended bool        // we have looked for what others left
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(l.Address, "a lock file", "exclusive")
	if err != nil {
		return nil, err
	}
	a := &attempt{lock: l, request: r, pauses: backoff.Schedule{Config: l.Polls}, crowd: backoff.Crowd{Each: l.Each}}
	if r.Polls != nil {
		a.pauses.Config, a.crowd.Each = *r.Polls, 0
	}
	return a, nil
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if a.fs == nil {
		a.fs = a.lock.NewFS()
		a.others = a.lock.newWatcher(a.fs, a.request)
	}
	h, err := a.race(ctx)
	switch {
	case err == nil:
		a.fs.Close()
		return h, nil
	case backend.Passes(err) && ctx.Err() == nil:
		return nil, a.obstacle(err)
	}
	return nil, err
}

// race tries until we hold the lock, somebody else holds it, or it fails.
func (a *attempt) race(ctx context.Context) (*hold, error) {
	if a.lock.Check != nil {
		if err := a.lock.Check(); err != nil {
			return nil, err
		}
	}
	h, err := backend.Retry(ctx, backend.Races, func() (*hold, error) { return a.take(ctx) })
	if errors.Is(err, backend.ErrAgain) {
		return nil, a.obstacle(err)
	}
	return h, err
}

// take acquires the lock:
//
//	1  make a claim, a file of our own beside L
//	2  link it to L
//	3  L is our file, and the file counts two links -> ours
//	   else look who has L: it is dead -> remove L, and start again
//	4  the first heartbeat; then remove the claim's own name
//
// Each time it makes a new claim, so that the file's time is recent when it becomes L.
func (a *attempt) take(ctx context.Context) (*hold, error) {
	if err := backend.AwaitSpace(func() error { return a.prepare(ctx) }); err != nil {
		return nil, err
	}
	ours, err := a.mine.linkTo(a.lock.Name)
	switch {
	case err != nil:
		return nil, err
	case ours:
		return a.enter(a.mine)
	}
	return a.look()
}

// prepare is step 1, without what the last try left.
func (a *attempt) prepare(ctx context.Context) error {
	if err := a.withdrawClaim(); err != nil {
		return err
	}
	a.removeLeftovers()
	//rule:new-claim
	c, err := a.lock.newClaim(a.fs, a.request.Owner)
	if err != nil {
		return err
	}
	a.mine = c // from here on there is something to remove
	if err := c.make(); err != nil {
		return err
	}
	if !a.tended {
		a.tended = true
		_ = a.others.tend(ctx, c.now, c.record.ID) // for the others' sake
	}
	return nil
}

// withdrawClaim removes the claim of the last try.
func (a *attempt) withdrawClaim() error {
	if a.mine == nil {
		return nil
	}
	//rule:unlink
	if err := a.mine.remove(); err != nil {
		return err
	}
	if a.mine.linked {
		a.prior = append(a.prior, a.mine)
	}
	a.mine = nil
	return nil
}

// removeLeftovers removes what is left of earlier turns. It cannot come back, because the claims
// that it was linked to do not have names of their own any more.
func (a *attempt) removeLeftovers() {
	a.left = slices.DeleteFunc(a.left, func(x leftover) bool { return x.remove(a.fs) })
}

// enter is step 4.
func (a *attempt) enter(c *claim) (*hold, error) {
	h := &hold{lock: a.lock, fs: a.fs, claim: c, others: a.lock.newWatcher(a.fs, a.request), left: a.left}
	err := h.beat()
	switch {
	case errors.Is(err, backend.ErrGone):
		return nil, backend.ErrAgain
	case err != nil:
		h.closeFile()
		return nil, err
	}
	_ = h.removeClaim() // if not now, with a heartbeat
	return h, nil
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(context.Context) error {
	if a.fs == nil {
		return nil
	}
	err := a.withdrawClaim()
	a.removeLeftovers()
	if err := errors.Join(err, a.withdrawLock()); err != nil {
		return err
	}
	a.fs.Close()
	a.fs = nil
	return nil
}

// withdrawLock removes the lock if it became ours without our knowing.
func (a *attempt) withdrawLock() error {
	//rule:late-link
	if len(a.prior) == 0 {
		return nil
	}
	s, err := a.others.see(a.lock.Name)
	switch c := a.ours(s); {
	case errors.Is(err, errAbsent):
	case err != nil:
		return err
	case c != nil:
		h := &hold{lock: a.lock, fs: a.fs, claim: c}
		if err := h.remove(); err != nil && !errors.Is(err, backend.ErrGone) {
			return err
		}
	}
	a.prior = nil
	return nil
}
