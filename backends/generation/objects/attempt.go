package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/tokens"
	"locksmith/backends/watch"
)

// maxAsked bounds how often one Try asks for the same generation.
const maxAsked = 5

// An attempt implements backend.Attempt and generation.Steps.
type attempt struct {
	generation.Attempt[ticket, *claim]
	lock    *Lock
	allowed bool          // to remove objects
	late    int           // how many generations of ours in a row came too late
	holder  ticket        // of generation Known, if read
	read    uint64        // the generation whose holder that is
	began   time.Duration // when Try was called; else 0
	judged  time.Duration // when we last looked whether those in the Block live
}

var _ generation.Steps[ticket, *claim] = (*attempt)(nil)

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	if r.Owner.Mode == "shared" {
		return nil, l.Address.Usage("acquire", "a lock in an object store cannot be shared", "leave out --shared, or use nfs:, which can be shared")
	}
	r, err := r.Checked(l.Address, "a lock in an object store", "exclusive")
	if err != nil {
		return nil, err
	}
	return &attempt{Attempt: generation.NewAttempt[ticket, *claim](r, watch.NewOthers(r, l.see), generation.Rules{Lock: l.Address, MinPause: minPause, SilenceEndsWait: true}), lock: l}, nil
}

// Wait implements backend.Attempt.
func (a *attempt) Wait(ctx context.Context) error { return generation.Wait(ctx, a) }

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	a.began = a.Request.Clock.Now()
	h, err := generation.Try(ctx, a)
	a.began = 0
	if ctx.Err() == nil && backend.Passes(err) {
		return nil, a.unanswered(err)
	}
	return h, err
}

// Take implements generation.Steps. It takes the lock:
//
//	1  make a reservation, if we may remove it
//	2  list all; t = the newest generation
//	3  read whose t is: ours -> 7 with N = t
//	4  look whether that reservation is there: yes -> held
//	5  create generation N = t+1 with our ticket in it
//	6  whatever the answer was but success: read it: ours -> 7; somebody else's -> 2; none -> 5
//	7  tell that we live, unless we did so in this Try
//	8  list all: N is the newest, and our reservation is there, else new ticket
func (a *attempt) Take(ctx context.Context) (backend.Hold, error) {
	h, err := a.take(ctx)
	if late, ok := errors.AsType[*lateError](err); ok {
		//rule:withdraw
		if left := a.Withdraw(ctx); left != nil {
			return nil, left
		}
		err = cmp.Or(a.tooLate(ctx, late), err)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// A lateError says that a generation became ours when our lease was over already. Somebody may
// be about to remove our reservation.
type lateError struct {
	number uint64
	old    tokens.Numbers // the generations there were, if they were listed
}

func (*lateError) Error() string        { return "the lease was over before the lock was ours" }
func (*lateError) Is(target error) bool { return target == generation.ErrBroken }

// tooLate counts such generations, up to backend.MaxLate. As there is no holder whose release
// removes old generations, tooLate does.
func (a *attempt) tooLate(ctx context.Context, e *lateError) error {
	a.lock.removeOld(ctx, e.old, e.number)
	if a.late++; a.late < backend.MaxLate {
		return nil
	}
	return a.lock.Address.TooSlow(fmt.Errorf("%d times in a row the lease of %v was over before the lock was ours", a.late, a.Request.Owner.Lease))
}

func (a *attempt) take(ctx context.Context) (*hold, error) {
	if err := a.reserve(ctx); err != nil { // 1
		return nil, err
	}
	v, err := a.look(ctx) // 2
	if err != nil {
		return nil, err
	}
	t := v.numbers.Newest()
	//rule:listing-is-no-proof
	if t > 0 { // a listing that lacks its reservation proves nothing: it is not one moment
		target, err := a.holderOf(ctx, t) // 3
		if err != nil {
			return nil, err
		}
		//rule:own
		if target == a.Mine.ticket {
			return a.confirm(ctx, t)
		}
		if err := a.pass(ctx, v, target); err != nil { // 4
			return nil, err
		}
	}
	if err := a.turn(ctx, v); err != nil {
		return nil, err
	}
	return a.create(ctx, t+1)
}

// look is step 2. If a listing lacks what we know to be there, it might show everybody's
// reservation as gone.
func (a *attempt) look(ctx context.Context) (view, error) {
	v, err := a.lock.list(ctx)
	if err != nil {
		return v, err
	}
	//rule:listed
	if _, there := v.find(a.Mine.ticket); !there {
		return v, cmp.Or(a.Mine.present(ctx), a.stale("our reservation"))
	}
	if v.numbers.Newest() < a.Known {
		return v, a.stale(generationKey(a.Known))
	}
	a.Known = v.numbers.Newest()
	a.Others.Keep(v.watches)
	return v, nil
}

// stale is the error of a listing that does not show what is there. It may pass.
func (a *attempt) stale(what string) error {
	lock := a.lock.Address
	return backend.Again(lock.Unfit("list the lock's objects", "the listing lacks "+what,
		"was it removed by hand? Else the store shows what is old: see locksmith doctor "+backend.ShellWord(string(lock))))
}

// holderOf reads whose generation n is. It reads it once, because that never changes.
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

// pass is step 4. It returns nil if the newest generation has ended, perhaps because its holder
// was dead and we removed its reservation; else a HeldError. If something was just listed and is
// not there, that proves nothing: a store that contradicts itself is asked again.
func (a *attempt) pass(ctx context.Context, v view, target ticket) error {
	s, err := a.Others.Look(ctx, target)
	_, listed := v.find(target)
	switch {
	//rule:just-listed
	case absent(err) && listed: // mostly it was released meanwhile; the next listing tells
		return backend.ErrAgain
	//rule:absent
	case absent(err):
		return nil
	case err != nil:
		return a.lock.fail("look at the holder's reservation", err)
	case s.Due > 0:
		return a.held(ctx, v, s)
	}
	//rule:remove
	if err := a.lock.remove(ctx, target); err != nil {
		return err
	}
	a.Others.Forget(target.String())
	a.Request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
	return nil
}

// create is steps 5 and 6. Only a request that the store refuses for good, such as for want of
// rights, needs no look.
func (a *attempt) create(ctx context.Context, n uint64) (*hold, error) {
	var last error
	for range maxAsked {
		//rule:create
		err := a.lock.Store.Create(ctx, generationKey(n), []byte(a.Mine.ticket.String()))
		switch {
		case err == nil:
			return a.confirm(ctx, n)
		//rule:refused
		case !errors.Is(err, ErrExists) && !unclear(err):
			return nil, a.lock.fail("create generation", err)
		}
		//rule:no-answer
		last = err
		target, err := a.lock.target(ctx, n)
		switch {
		case errors.Is(err, backend.ErrAgain) && ctx.Err() == nil: // it may come yet: the same again
		case err != nil:
			return nil, err
		case target == a.Mine.ticket:
			return a.confirm(ctx, n)
		default:
			a.Known = max(a.Known, n)
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
func (a *attempt) confirm(ctx context.Context, n uint64) (*hold, error) {
	a.Known = max(a.Known, n)
	//rule:beat
	if a.Mine.Confirmed < a.began { // our lease is counted from there
		switch err := a.Mine.refresh(ctx); {
		case errors.Is(err, generation.ErrBroken):
			return nil, &lateError{number: n}
		case err != nil:
			return nil, err
		}
	}
	v, err := a.look(ctx)
	//rule:late
	late := a.Mine.Overdue()
	switch {
	case late && (err == nil || errors.Is(err, generation.ErrBroken)):
		return nil, &lateError{n, v.numbers}
	case err != nil:
		return nil, err
	//rule:newest
	case v.numbers.Newest() != n:
		return nil, generation.ErrBroken
	}
	return &hold{Held: a.Won(n, v.numbers)}, nil
}

// unanswered goes on waiting while the store does not answer. If nobody is known whose end tells
// when to try again, time does.
func (a *attempt) unanswered(err error) error {
	b := a.Block
	if b.Holder.Of == (ticket{}) {
		b.Until = a.Request.Clock.Now() + maxHeadPause
	}
	return a.stop(b, backend.HeldError{Holder: b.Holder.Holder(a.lock.Today()), Obstacle: err})
}

// Raced implements generation.Steps.
func (a *attempt) Raced(context.Context) error {
	return a.stop(generation.Block[ticket]{Number: a.Known, Until: a.Request.Clock.Now() + maxHeadPause}, generation.Faster())
}
