//go:build unix

package symlinks

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/watch"
	"locksmith/protocol"
)

// maxRaces bounds how often one Try starts anew; each time somebody else made
// progress.
const maxRaces = 8

// An attempt implements backend.Attempt.
type attempt struct {
	lock     *Lock
	request  backend.Request
	others   watch.Others[spot]
	place    *ticket       // our place in the queue; nil before the first look
	mine     *claim        // what we have in Reservations; nil: nothing
	known    uint64        // the highest generation that is known to exist
	links    uint64        // of Reservations, at the last look
	block    block         // what the last failed Try saw
	nextLook time.Duration // when to look again whether it is still so
	line     line          // who waited before us, when we listed them
	ears     []ear         // the bells that we listen to, the nearest first
	fairness backoff.Fairness
	pauses   *backoff.Schedule // nil: those of pause
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(l.Address, "a lock", "exclusive", "shared")
	if err != nil {
		return nil, err
	}
	return &attempt{lock: l, request: r, others: l.newOthers(r), pauses: r.Polls.Schedule()}, nil
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if a.mine != nil && a.mine.spoiled {
		if err := a.withdraw(ctx); err != nil {
			return nil, err
		}
	}
	h, err := backend.Retry(ctx, maxRaces, func() (*hold, error) { return a.race(ctx) })
	switch {
	case errors.Is(err, backend.ErrAgain):
		return nil, a.raced(ctx)
	case err != nil:
		return nil, err
	}
	return h, nil
}

// race takes the lock, or is step R: it starts anew with the same reservation, or with
// none if that is gone.
func (a *attempt) race(ctx context.Context) (*hold, error) {
	take := a.takeExclusive
	if a.request.Owner.Mode == "shared" {
		take = a.takeShared
	}
	h, err := take(ctx)
	if err == nil {
		return h, nil
	}
	again := backend.ErrAgain
	if errors.Is(err, backend.ErrAgain) {
		again, err = err, a.recover(ctx)
	}
	if errors.Is(err, errBroken) {
		err = a.withdraw(ctx)
	}
	return nil, cmp.Or(err, again)
}

// recover finds out whether our reservation still is there. Then it serves again.
func (a *attempt) recover(ctx context.Context) error {
	if a.mine == nil {
		return nil
	}
	return a.mine.present(ctx)
}

// withdraw removes what is left of our reservation; the next has a new ticket.
func (a *attempt) withdraw(ctx context.Context) error {
	if a.mine == nil {
		return nil
	}
	err := a.mine.remove(ctx)
	if err == nil {
		a.mine = nil
	}
	return err
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	a.stopListening()
	return a.withdraw(ctx)
}

// list is a fresh listing of the generations, and the highest that exists: never
// less than one that is known to.
func (a *attempt) list(ctx context.Context) (numbers, uint64, error) {
	all, anew, err := a.lock.list(ctx)
	if err != nil {
		return nil, 0, err
	}
	if anew && a.known > 0 {
		return nil, 0, a.vanished()
	}
	a.known = max(a.known, all.newest())
	return all, a.known, nil
}

// checkSame makes sure that the highest generation known to us is in the directory. If it
// is not, this is another directory under the same name.
func (a *attempt) checkSame(ctx context.Context) error {
	if a.mine == nil || a.lock.probe(ctx, a.mine.ticket) != nil {
		return nil
	}
	all, _, err := a.lock.list(ctx)
	if err == nil && all.newest() < a.known {
		return a.vanished()
	}
	return nil
}

// vanished is the error if the known generations are gone. To go on would start the
// fencing tokens anew.
func (a *attempt) vanished() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: string(a.lock.Address), Op: "list generations",
		Err: errors.New("the lock directory has vanished"), Hint: "was it removed, or its file system unmounted?", Lasts: true}
}

// publish is steps 5 and 6: it makes generation n and points it to our
// reservation. Its creation has one winner.
func (a *attempt) publish(ctx context.Context, n uint64) (*hold, error) {
	made := a.lock.Dir.Symlink(ctx, a.mine.in.link(), lockName(n))
	switch {
	case made == nil:
		return a.confirm(ctx, n)
	case errors.Is(made, unix.EEXIST):
		a.known = max(a.known, n)
	case !unclear(made):
		return nil, a.lock.Fail("make generation", made)
	}
	e, err := a.lock.target(ctx, n)
	if errors.Is(err, backend.ErrAgain) && unclear(made) {
		err = a.lock.again("make generation", made)
	}
	if err != nil {
		return nil, err
	}
	if e != a.mine.in {
		return nil, backend.ErrAgain
	}
	return a.confirmUnseen(ctx, n)
}

// confirmUnseen confirms a generation of ours that we did not see ourselves
// make: the answer was lost.
func (a *attempt) confirmUnseen(ctx context.Context, n uint64) (*hold, error) {
	if err := a.lock.probe(ctx, a.mine.ticket); err != nil {
		return nil, err
	}
	return a.confirm(ctx, n)
}

// confirm is steps 7 and 8: our generation is the newest, and our reservation
// was there all the time. We changed the directory of generations just before.
func (a *attempt) confirm(ctx context.Context, n uint64) (*hold, error) {
	all, newest, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	if newest != n {
		return nil, backend.ErrAgain
	}
	if err := a.mine.refresh(ctx); err != nil {
		return nil, err
	}
	h := &hold{claim: a.mine, number: n, old: all, others: a.others}
	a.stopListening()
	// Another Try is another wish.
	*a = attempt{lock: a.lock, request: a.request, others: a.lock.newOthers(a.request), known: n, pauses: a.request.Polls.Schedule()}
	return h, nil
}
