//go:build unix

package symlinks

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/process"
	"locksmith/backends/tokens"
	"locksmith/backends/watch"
	"locksmith/protocol"
)

// An attempt implements backend.Attempt and generation.Steps.
type attempt struct {
	generation.Attempt[spot, *claim]
	lock    *Lock
	place   *ticket         // our place in the queue; nil before the first look
	links   uint64          // of Reservations, at the last look
	rank    int             // how many waited before us in all, when the Block was seen
	process process.Process // whose end may end the Block, if it can be seen from here
	line    line            // who waited before us, when we listed them
	ears    []ear           // the bells that we listen to, the nearest first
}

var _ generation.Steps[spot, *claim] = (*attempt)(nil)

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(l.Address, "a lock", "exclusive", "shared")
	if err != nil {
		return nil, err
	}
	if l.Use != nil {
		l = l.Use(r.Owner.Lease)
	}
	return &attempt{Attempt: generation.NewAttempt[spot, *claim](r, watch.NewOthers(r, l.see), generation.Rules{Lock: l.Address, MinPause: minPause}), lock: l}, nil
}

// Try implements backend.Attempt. To look at the place is part of it, because one on a dead server
// answers late or never.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if err := checked(ctx, a.lock.Check); err != nil {
		return nil, err
	}
	h, err := generation.Try(ctx, a)
	if err == nil {
		a.lock.rest(true)
	}
	return h, err
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	a.stopListening()
	err := a.Attempt.Withdraw(ctx)
	a.lock.rest(err != nil)
	return err
}

// Take implements generation.Steps. After a lost race it is step R: the next starts anew with
// the same reservation, or with another if that is gone.
func (a *attempt) Take(ctx context.Context) (backend.Hold, error) {
	take := a.takeExclusive
	if a.Request.Owner.Mode == "shared" {
		take = a.takeShared
	}
	h, err := take(ctx)
	switch {
	case err == nil:
		return h, nil
	case !errors.Is(err, backend.ErrAgain):
		return nil, err
	}
	gone := a.recover(ctx)
	if errors.Is(gone, generation.ErrBroken) {
		gone = errors.Join(err, gone)
	}
	return nil, cmp.Or(gone, err)
}

// recover finds out whether our reservation still is there. Then it serves again.
func (a *attempt) recover(ctx context.Context) error {
	if a.Mine == nil {
		return nil
	}
	return a.Mine.present(ctx)
}

// list is a fresh listing of the generations, and the highest that exists: never less than one
// that is known to exist.
func (a *attempt) list(ctx context.Context) (tokens.Numbers, uint64, error) {
	all, anew, err := a.lock.list(ctx)
	if err != nil {
		return nil, 0, err
	}
	if anew && a.Known > 0 {
		return nil, 0, a.vanished()
	}
	a.Known = max(a.Known, all.Newest())
	return all, a.Known, nil
}

// checkSame makes sure that the highest generation known to us is in the directory. If it is
// not, the name leads to another directory now.
func (a *attempt) checkSame(ctx context.Context) error {
	if a.Mine == nil || a.lock.probe(ctx, a.Mine.ticket) != nil {
		return nil
	}
	all, _, err := a.lock.list(ctx)
	if err == nil && all.Newest() < a.Known {
		return a.vanished()
	}
	return nil
}

// vanished is the error if the known generations are gone. Going on would start the fencing
// tokens anew.
func (a *attempt) vanished() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: string(a.lock.Address), Op: "list generations",
		Err: errors.New("the lock directory has vanished"), Hint: "was it removed, or its file system unmounted?", Lasts: true}
}

// publish is steps 5 and 6: it makes generation n, which points to our reservation. Creating it
// has one winner.
func (a *attempt) publish(ctx context.Context, n uint64) (*hold, error) {
	made := a.lock.Dir.Symlink(ctx, a.Mine.in.link(), lockName(n))
	//rule:made
	switch {
	case made == nil:
		return a.confirm(ctx, n)
	case errors.Is(made, unix.EEXIST):
		a.Known = max(a.Known, n)
	case !backend.Unclear(made):
		return nil, a.lock.Fail("make generation", made)
	}
	e, err := a.lock.target(ctx, n)
	if errors.Is(err, backend.ErrAgain) && backend.Unclear(made) {
		err = backend.Again(a.lock.Fail("make generation", made))
	}
	if err != nil {
		return nil, err
	}
	if e != a.Mine.in {
		return nil, backend.ErrAgain
	}
	return a.confirmUnseen(ctx, n)
}

// confirmUnseen confirms a generation of ours that we did not see ourselves make, because the
// answer was lost.
func (a *attempt) confirmUnseen(ctx context.Context, n uint64) (*hold, error) {
	if err := a.lock.probe(ctx, a.Mine.ticket); err != nil {
		return nil, err
	}
	return a.confirm(ctx, n)
}

// confirm is steps 7 and 8. Our generation is the newest, and our reservation was there all the
// time. We changed the directory of generations just before.
func (a *attempt) confirm(ctx context.Context, n uint64) (*hold, error) {
	all, newest, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	//rule:newest
	if newest != n {
		return nil, backend.ErrAgain
	}
	//rule:beat
	if err := a.Mine.Beat(ctx); err != nil {
		return nil, err
	}
	h := &hold{Held: a.Won(n, all)}
	a.stopListening()
	return h, nil
}
