package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/manners"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// maxRaces bounds how often one Try starts anew; each time somebody else made
// progress.
const maxRaces = 8

// An attempt implements backend.Attempt.
type attempt struct {
	lock    *Lock
	request backend.Request
	dir     Dir // nil before the first call
	others  watcher
	mine    *claim // nil: nothing was made yet
	block   block  // what the last Try that failed saw
	// removes: what we made could be removed.
	removes bool
	// met: the directory has answered before, so that trouble may pass.
	met bool
	// owned: the lock's directory is empty and ours, in plain style: we made it,
	// or it was we who removed the last entry. Only we may commit onto it or
	// remove it.
	owned bool
	// unsure: the answer to our commit was lost.
	unsure bool
	// leaving: what there is of us is being removed, but an answer was lost.
	leaving bool
	// fresh: our reservation was made since we last waited.
	fresh bool
	// alone: the server does not rename onto a directory that exists.
	alone bool
	// disk is dir, where that can do more; twoSteps, but not take the lock in one.
	disk     Disk
	twoSteps bool
	pin      io.Closer // of a lock's directory that is ours; nil: none
	courtesy courtesy
	pauses   *manners.Pauses // nil: those of the lock's Pace
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	switch m := r.Owner.Mode; {
	case m == "shared" && l.Style == PlainStyle:
		return nil, l.usage("acquire", "a plain lock cannot be shared",
			"add ?style=dir to the address, for all who use the lock")
	case m != "exclusive" && m != "shared":
		return nil, l.usage("acquire", "a lock cannot be "+shown(m), "use exclusive or shared")
	}
	r.Owner.Lease = r.Owner.Lease.Truncate(time.Millisecond)
	if d := r.Owner.Lease; d < owner.MinLease || d > owner.MaxLease {
		return nil, l.usage("acquire", fmt.Sprintf("a lease of %v is not between %v and %v", d, owner.MinLease, owner.MaxLease), "choose another")
	}
	return &attempt{lock: l, request: r, pauses: manners.Asked(r.Polls)}, nil
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if a.dir == nil {
		a.dir = a.lock.NewDir()
		a.disk = a.lock.disk(a.dir)
		a.others = a.lock.newWatcher(a.dir, a.request)
		a.block.reached = a.request.Clock.Now()
	}
	a.block.missed = 0
	h, err := a.race(ctx)
	switch {
	case err == nil:
		// Another Try is another wish.
		*a = attempt{lock: a.lock, request: a.request, removes: a.removes, pauses: manners.Asked(a.request.Polls)}
		return h, nil
	case passing(err) && ctx.Err() == nil && (a.met || errors.Is(err, ErrBusy)):
		a.block.again = 0 // look anew
		return nil, &backend.HeldError{Lock: a.lock.Address, Holder: a.block.holder(a.lock.Today()), Obstacle: err}
	}
	return nil, err
}

// race tries until we hold the lock, somebody else does, or it fails.
func (a *attempt) race(ctx context.Context) (*hold, error) {
	var fault *backend.Error // why the last one was in vain, if not for others
	for range maxRaces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if a.leaving {
			if err := a.giveUp(ctx); err != nil {
				return nil, err
			}
		}
		h, err := a.take(ctx)
		if err == nil {
			return h, nil
		}
		if fault = nil; errors.Is(err, errAgain) {
			errors.As(err, &fault)
			continue
		}
		if errors.Is(err, errAbsent) {
			err = a.giveUp(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	if fault != nil && (fault.Code != protocol.CannotCreate || a.cannotRename(ctx)) {
		return nil, fault
	}
	a.block.again = 0 // look anew
	return nil, &backend.HeldError{Lock: a.lock.Address, Holder: a.block.holder(a.lock.Today()),
		Obstacle: fmt.Errorf("it changed %d times while we tried", maxRaces)}
}

// take tries once.
func (a *attempt) take(ctx context.Context) (*hold, error) {
	if !a.removes {
		if err := a.tryRemoving(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case a.request.Owner.Mode == "shared":
		return a.takeShared(ctx)
	case a.lock.Style == TreeStyle:
		return a.takeExclusive(ctx)
	}
	return a.takePlain(ctx)
}

// cannotRename finds out, with directories of our own, whether the server refuses
// what an acquisition takes. Otherwise it was others who were in our way.
func (a *attempt) cannotRename(ctx context.Context) bool {
	own := ticket{a.request.Owner.Lease, a.lock.NewID()}
	from, to, inside := a.lock.reservation(own), a.probe(), "/"+entry{exclusive, own}.String()
	made := errors.Join(a.dir.Mkdir(ctx, from), a.dir.Mkdir(ctx, from+inside))
	moved := a.dir.Rename(ctx, from, to)
	for _, probe := range []string{to + inside, to, from + inside, from} {
		_ = a.dir.Rmdir(ctx, probe) // or somebody sweeps it
	}
	return refused(made) || refused(moved)
}

// giveUp removes what there is of us; the next try has a new ticket.
func (a *attempt) giveUp(ctx context.Context) error {
	if a.mine != nil {
		a.leaving = true
		emptied, err := a.mine.drop(ctx)
		if emptied && a.lock.Style == PlainStyle {
			a.own(a.mine.pin)
			a.mine.pin = nil
		}
		if err != nil {
			return err
		}
		a.mine.unpin()
		a.mine, a.unsure, a.leaving = nil, false, false
	}
	return nil
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	if a.dir == nil {
		return nil
	}
	if err := a.giveUp(ctx); err != nil {
		return err
	}
	if err := a.disown(ctx); err != nil {
		return err
	}
	a.dir.Close()
	a.dir = nil
	return nil
}

// own notes that the lock's directory is empty and ours, and what pins it.
func (a *attempt) own(pin io.Closer) {
	a.yieldLock()
	a.owned, a.pin = true, pin
}

// yieldLock notes that the lock's directory is not ours any more.
func (a *attempt) yieldLock() {
	unpin(a.pin)
	a.owned, a.pin = false, nil
}

// disown removes the lock's directory, if it is ours. Its answer may be lost: then
// it is not tried again, because by then it may be somebody else's.
func (a *attempt) disown(ctx context.Context) error {
	if !a.owned {
		return nil
	}
	err := a.dir.Rmdir(ctx, a.lock.lock())
	switch {
	case err == nil, refused(err):
		a.yieldLock()
		return nil
	case unclear(err):
		a.yieldLock()
		return a.lock.orphaned("remove the lock directory")
	}
	return a.lock.fail("remove the lock directory", err)
}

// enter makes sure, after a commit, that the entry in the lock is ours and there.
func (a *attempt) enter(ctx context.Context) (*hold, error) {
	c := a.mine
	c.at, c.inLock = a.lock.lock(), true
	a.unsure = true // until the heartbeat has told
	c.acquiredNow()
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	a.yieldLock()
	c.home, a.unsure = "", false
	return a.hold(), nil
}

func (a *attempt) hold() *hold {
	return &hold{claim: a.mine, lock: a.lock, dir: a.dir, others: a.others}
}
