package generation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// ErrBroken says that our own reservation must not be used any more, for one of these reasons:
//
//   - It is gone.
//   - It was silent for so long that somebody may have decided to remove it.
//   - Nobody knows whether it was made.
//   - It was used for a generation that did not give us the lock.
var ErrBroken = errors.New("our reservation was given up")

// An Attempt is what an attempt remembers, in either form (package symlinks or objects). A T is what
// it watches of others. C is the type of our reservation.
type Attempt[T fmt.Stringer, C Reservation] struct {
	Rules
	Request backend.Request
	Others  watch.Others[T]
	Mine    C // our reservation; zero: none
	// Known is the highest generation that is known to exist. A listing without it is not trusted.
	Known    uint64
	Block    Block[T]          // what the last failed Try saw
	Fairness backoff.Fairness  // since when we have left the lock to those who came before us
	Pauses   *backoff.Schedule // those that the request asks for, which Steps.Pause may shorten; nil: the form has its own
	nextLook time.Duration     // when to look again whether Block is still in our way
}

// Rules are the differences between the two forms, apart from their Steps.
type Rules struct {
	Lock     backend.Name  // for messages
	MinPause time.Duration // the shortest sleep of Wait
	// SilenceEndsWait: if the place of the lock does not answer a waiter, Wait returns, and the
	// next Try reports that. Else Wait goes on.
	SilenceEndsWait bool
}

// NewAttempt returns an attempt that has done nothing yet.
func NewAttempt[T fmt.Stringer, C Reservation](r backend.Request, others watch.Others[T], rules Rules) Attempt[T, C] {
	return Attempt[T, C]{Rules: rules, Request: r, Others: others, Pauses: r.Polls.Schedule()}
}

// State implements Steps.State for the form that embeds this Attempt.
func (a *Attempt[T, C]) State() *Attempt[T, C] { return a }

// placed reports whether we have a reservation that may be used.
func (a *Attempt[T, C]) placed() bool { return a.Mine != *new(C) && !a.Mine.Own().Spoiled }

// A Block is what stands in our way: what Wait waits for.
type Block[T fmt.Stringer] struct {
	Number uint64 // the newest generation
	// Holder is zero if nobody holds the lock, or nobody for whom we must wait, or we do not know who.
	Holder watch.Observed[T]
	Next   watch.Observed[T] // the nearest waiter that blocks us, if Ahead > 0
	// Ahead is how many of the waiters before us block us. Shared ones do not block each other.
	Ahead int
	// Until is when to try even if nothing has changed. watch.Never: not before Holder or Next is
	// gone, or we may break it.
	Until   time.Duration
	Reached time.Duration // when this came to stand in our way; from then on the pauses grow
}

// Steps is the attempt of one form. It embeds an Attempt.
type Steps[T fmt.Stringer, C Reservation] interface {
	State() *Attempt[T, C]
	// Take goes through the steps once. Its error is ErrBroken if we must make another reservation,
	// with a new ticket. It is backend.ErrAgain if somebody else was faster.
	Take(ctx context.Context) (backend.Hold, error)
	// Raced returns the error of a Try in which others were always faster. It does not sleep. It
	// sets a Block that ends after a moment, so that the next Wait leaves the others that moment.
	Raced(ctx context.Context) error
	// Sleep returns after d, when ctx ends, or when it notices something.
	Sleep(ctx context.Context, d time.Duration) Noticed
	// Changed reports whether another Try is worth its cost.
	Changed(ctx context.Context) (bool, error)
	// Pause is how long to wait before we look again. If Block.Until comes earlier, we look then.
	Pause(now time.Duration) time.Duration
}

// Noticed is what a sleeper has noticed.
type Noticed int

// What a sleeper may notice.
const (
	Nothing   Noticed = iota // the time was over
	Something                // something that makes a look worth its cost
	Nearer                   // somebody before us has gone, and somebody else is still before us
)

// Try implements backend.Attempt. After backend.Races races without an outcome, its error is the
// *backend.Error that came with the ErrAgain of the last race. If none did, it is that of Raced.
func Try[T fmt.Stringer, C Reservation](ctx context.Context, s Steps[T, C]) (backend.Hold, error) {
	h, err := backend.Retry(ctx, backend.Races, func() (backend.Hold, error) { return race(ctx, s) })
	switch {
	case errors.Is(err, backend.ErrAgain):
		return nil, s.Raced(ctx)
	case err != nil:
		return nil, err
	}
	return h, nil
}

// race goes through the steps once. If our reservation must not be used any more, race removes what
// is left of it, and the next one has a new ticket.
func race[T fmt.Stringer, C Reservation](ctx context.Context, s Steps[T, C]) (backend.Hold, error) {
	a := s.State()
	if !a.placed() {
		if err := a.Withdraw(ctx); err != nil {
			return nil, err
		}
	}
	h, err := s.Take(ctx)
	if errors.Is(err, ErrBroken) {
		//rule:withdraw
		err = cmp.Or(a.Withdraw(ctx), backend.Again(err))
	}
	return h, err
}

// Withdraw implements backend.Attempt. It removes what is left of our reservation; the next one has
// a new ticket. If the removal has no answer, it may be executed later. It must not hit a holder
// then, so the reservation is spoiled before, and nobody ever holds the lock by it.
func (a *Attempt[T, C]) Withdraw(ctx context.Context) error {
	var none C
	if a.Mine == none {
		return nil
	}
	a.Mine.Own().Spoiled = true
	err := a.Mine.Remove(ctx)
	if err == nil {
		a.Mine = none
	}
	return err
}

// Stop remembers what to wait for, and returns the error that says so. same: the same was in our
// way at the last Stop, and Reached stays as it was.
func (a *Attempt[T, C]) Stop(now time.Duration, b Block[T], same bool, err backend.HeldError) error {
	err.Lock, err.Ahead = string(a.Lock), b.Ahead
	b.Reached = now
	if same {
		b.Reached = a.Block.Reached
	}
	a.Block = b
	return &err
}

// Faster is the error, for Stop, of a Try in which others were always faster.
func Faster() backend.HeldError {
	return backend.HeldError{Holder: backend.Holder{Verdict: owner.Unknown, Note: "others took turns while we looked"}}
}
