package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/watch"
	"locksmith/protocol"
)

// maxAsked bounds how often one Try asks for the same generation.
const maxAsked = 5

// maxLate is how many generations in a row are lost to slowness before an attempt gives up.
const maxLate = 3

// An attempt implements backend.Attempt.
type attempt struct {
	lock     *Lock
	request  backend.Request
	others   watch.Others[ticket]
	mine     *claim        // nil: nothing
	allowed  bool          // to remove objects
	late     int           // how many generations of ours in a row came too late
	known    uint64        // the highest generation that is known to exist
	holder   ticket        // of generation known, if read
	read     uint64        // the generation whose holder that is
	block    block         // what the last failed Try saw
	nextLook time.Duration // when to look again whether it is still so
	fairness backoff.Fairness
	pauses   *backoff.Schedule // nil: those of pause
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	if r.Owner.Mode == "shared" {
		return nil, l.Address.Usage("acquire", "a lock in an object store cannot be shared", "leave out --shared, or use nfs:, which can be shared")
	}
	r, err := r.Checked(l.Address, "a lock in an object store", "exclusive")
	if err != nil {
		return nil, err
	}
	return l.attempt(r), nil
}

func (l *Lock) attempt(r backend.Request) *attempt {
	return &attempt{lock: l, request: r, others: l.newOthers(r), pauses: r.Polls.Schedule()}
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	began := a.request.Clock.Now()
	h, err := backend.Retry(ctx, maxRaces, func() (*hold, error) { return a.race(ctx, began) })
	switch {
	case errors.Is(err, backend.ErrAgain):
		return nil, a.raced()
	case backend.Passes(err) && ctx.Err() == nil:
		return nil, a.unanswered(err)
	case err != nil:
		return nil, err
	}
	return h, nil
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error { return a.withdraw(ctx) }

// race takes the lock, or starts anew with a new ticket if ours is gone:
//
//	1  make a reservation, if we may remove it
//	2  list all; t = the newest generation
//	3  read whose t is: ours -> 7 with N = t
//	4  look whether that reservation is there: yes -> held
//	5  create generation N = t+1 with our ticket in it
//	6  whatever the answer was but success: read it: ours -> 7; somebody else's -> 2; none -> 5
//	7  tell that we live, unless we did so in this Try
//	8  list all: N is the newest, and our reservation is there, else new ticket
func (a *attempt) race(ctx context.Context, began time.Duration) (*hold, error) {
	h, err := a.take(ctx, began)
	if errors.Is(err, errBroken) {
		err = cmp.Or(a.withdraw(ctx), errors.Join(backend.ErrAgain, err))
	}
	if late, ok := errors.AsType[*lateError](err); ok {
		err = cmp.Or(a.tooLate(ctx, late), err)
	}
	return h, err
}

// A lateError says that a generation was ours only when our lease was over: somebody may be
// about to remove our reservation.
type lateError struct {
	number uint64
	old    []uint64 // the generations there were, if they were listed
}

func (*lateError) Error() string        { return "the lease was over before the lock was ours" }
func (*lateError) Is(target error) bool { return target == errBroken }

// tooLate counts such generations. A stall explains one of them. After maxLate in a row the
// requests take longer than the lease, and the next generation would come too late as well. As
// there is no holder whose release removes old generations, tooLate does.
func (a *attempt) tooLate(ctx context.Context, e *lateError) error {
	a.lock.removeOld(ctx, e.old, e.number)
	if a.late++; a.late < maxLate {
		return nil
	}
	return a.lock.Address.TooSlow(fmt.Errorf("%d times in a row the lease of %v was over before the lock was ours", a.late, a.request.Owner.Lease))
}

func (a *attempt) take(ctx context.Context, began time.Duration) (*hold, error) {
	if err := a.reserve(ctx); err != nil { // 1
		return nil, err
	}
	v, err := a.look(ctx) // 2
	if err != nil {
		return nil, err
	}
	t := v.newest()
	if t > 0 { // a listing that lacks its reservation proves nothing: it is not one moment
		target, err := a.holderOf(ctx, t) // 3
		if err != nil {
			return nil, err
		}
		if target == a.mine.ticket {
			return a.confirm(ctx, t, began)
		}
		if err := a.pass(ctx, v, target); err != nil { // 4
			return nil, err
		}
	}
	if err := a.turn(ctx, v); err != nil {
		return nil, err
	}
	return a.create(ctx, t+1, began)
}

// look is step 2. A listing that lacks what we know to be there would take everybody's
// reservation for gone.
func (a *attempt) look(ctx context.Context) (view, error) {
	v, err := a.lock.list(ctx)
	if err != nil {
		return v, err
	}
	if _, there := v.find(a.mine.ticket); !there {
		return v, cmp.Or(a.mine.present(ctx), a.stale("our reservation"))
	}
	if v.newest() < a.known {
		return v, a.stale(generation(a.known))
	}
	a.known = v.newest()
	a.others.Keep(v.watches)
	return v, nil
}

// stale is the error of a listing that does not show what is there. It may pass.
func (a *attempt) stale(what string) error {
	return errors.Join(backend.ErrAgain, &backend.Error{Code: protocol.CannotCreate, Lock: string(a.lock.Address), Op: "list the lock's objects",
		Err: errors.New("the listing lacks " + what), Hint: "was it removed by hand? Else the store shows what is old: see locksmith doctor " + backend.ShellWord(string(a.lock.Address))})
}

// holderOf reads whose generation n is: once, for it never changes.
func (a *attempt) holderOf(ctx context.Context, n uint64) (ticket, error) {
	if a.read != n {
		t, err := a.lock.target(ctx, n)
		if err != nil {
			return t, err
		}
		a.holder, a.read = t, n
	}
	return a.holder, nil
}

// pass is step 4. It returns nil if the newest generation has ended, perhaps because its
// holder was dead and we removed its reservation; else a HeldError. What was just listed and
// is not there proves nothing: a store that contradicts itself is asked again.
func (a *attempt) pass(ctx context.Context, v view, target ticket) error {
	s, err := a.others.Look(ctx, target)
	_, listed := v.find(target)
	switch {
	case absent(err) && listed: // mostly it was released meanwhile; the next listing tells
		return backend.ErrAgain
	case absent(err):
		return nil
	case err != nil:
		return a.lock.fail("look at the holder's reservation", err)
	case s.Due > 0:
		return a.held(ctx, v, s)
	}
	if err := a.lock.remove(ctx, target); err != nil {
		return err
	}
	a.others.Forget(target.String())
	a.request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
	return nil
}

// create is steps 5 and 6. Only what the store refuses for good, such as for want of rights,
// needs no look.
func (a *attempt) create(ctx context.Context, n uint64, began time.Duration) (*hold, error) {
	var last error
	for range maxAsked {
		err := a.lock.Store.Create(ctx, generation(n), []byte(a.mine.ticket.String()))
		switch {
		case err == nil:
			return a.confirm(ctx, n, began)
		case !errors.Is(err, ErrExists) && !unclear(err):
			return nil, a.lock.fail("create generation", err)
		}
		last = err
		target, err := a.lock.target(ctx, n)
		switch {
		case errors.Is(err, backend.ErrAgain) && ctx.Err() == nil: // it may come yet: the same again
		case err != nil:
			return nil, err
		case target == a.mine.ticket:
			return a.confirm(ctx, n, began)
		default:
			a.known = max(a.known, n)
			a.holder, a.read = target, n
			return nil, backend.ErrAgain
		}
	}
	if unclear(last) { // it is too busy to write
		return nil, a.lock.fail("create generation", last)
	}
	return nil, a.lock.Address.Unfit("create generation", "the store neither creates it nor shows it", "see locksmith doctor "+backend.ShellWord(string(a.lock.Address)))
}

// confirm is steps 7 and 8.
func (a *attempt) confirm(ctx context.Context, n uint64, began time.Duration) (*hold, error) {
	a.known = max(a.known, n)
	if a.mine.proven < began { // our lease is counted from there
		switch err := a.mine.refresh(ctx); {
		case errors.Is(err, errBroken):
			return nil, &lateError{number: n}
		case err != nil:
			return nil, err
		}
	}
	v, err := a.look(ctx)
	late := a.request.Clock.Now()-a.mine.proven >= a.mine.ticket.lease
	switch {
	case late && (err == nil || errors.Is(err, errBroken)):
		return nil, &lateError{n, v.numbers}
	case err != nil:
		return nil, err
	case v.newest() != n:
		return nil, errBroken
	}
	h := &hold{claim: a.mine, number: n, old: v.numbers, others: a.others}
	*a = *a.lock.attempt(a.request) // another Try is another wish
	return h, nil
}

// unanswered goes on waiting while the store does not answer. Where nobody is known whose end
// tells when to try again, time does.
func (a *attempt) unanswered(err error) error {
	b := a.block
	if b.holder.Of == (ticket{}) {
		b.until = a.request.Clock.Now() + maxHeadPause
	}
	return a.stop(b, backend.HeldError{Holder: b.holder.Holder(a.lock.Today()), Obstacle: err})
}

// raced says that others were always faster. It leaves them a moment.
func (a *attempt) raced() error {
	return a.stop(block{number: a.known, until: a.request.Clock.Now() + maxHeadPause}, backend.HeldError{Holder: unknownHolder()})
}
