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

// ErrBroken says that our own reservation is gone, or was silent for so long that somebody may
// have decided to remove it. It must not be used any more.
var ErrBroken = errors.New("our reservation was given up")

// MaxRaces bounds how often one call starts anew. Each time somebody else made progress.
const MaxRaces = 8

// An Attempt is what an attempt of either form remembers. T names what it watches of others, C
// is our reservation.
type Attempt[T fmt.Stringer, C Reservation] struct {
	Rules
	Request  backend.Request
	Others   watch.Others[T]
	Mine     C        // zero: nothing
	Known    uint64   // the highest generation that is known to exist
	Block    Block[T] // what the last failed Try saw
	Fairness backoff.Fairness
	Pauses   *backoff.Schedule // nil: those of Pause
	nextLook time.Duration     // when to look again whether Block still holds
}

// Rules are the differences between the forms, apart from their steps.
type Rules struct {
	Lock     backend.Name // for messages
	MinPause time.Duration
	// SilenceEndsWait: if the place does not answer a waiter, Wait returns, and Try says so.
	// Else Wait goes on.
	SilenceEndsWait bool
}

// NewAttempt returns an attempt that has done nothing yet.
func NewAttempt[T fmt.Stringer, C Reservation](r backend.Request, others watch.Others[T], rules Rules) Attempt[T, C] {
	return Attempt[T, C]{Rules: rules, Request: r, Others: others, Pauses: r.Polls.Schedule()}
}

// State is for Steps.
func (a *Attempt[T, C]) State() *Attempt[T, C] { return a }

// placed reports whether we have a reservation that serves.
func (a *Attempt[T, C]) placed() bool { return a.Mine != *new(C) && !a.Mine.Own().Spoiled }

// A Block is what stands in our way: what Wait waits for.
type Block[T fmt.Stringer] struct {
	Number  uint64            // the newest generation
	Holder  watch.Observed[T] // zero: nobody holds the lock, or nobody whom we must wait for
	Next    watch.Observed[T] // the waiter next before us, if Ahead > 0
	Ahead   int               // how many of the waiters before us block us
	Until   time.Duration     // when to try anyhow; watch.Never: somebody stops us until it goes
	Reached time.Duration     // when this came to stand in our way
}

// Steps are the attempt of one form, which has an Attempt.
type Steps[T fmt.Stringer, C Reservation] interface {
	State() *Attempt[T, C]
	// Take goes through the steps once. Its error is ErrBroken if we need another ticket, and
	// backend.ErrAgain if somebody else was faster.
	Take(ctx context.Context) (backend.Hold, error)
	// Raced says that others were always faster, and leaves them a moment.
	Raced(ctx context.Context) error
	// Sleep returns after d, when ctx ends, or when it notices something.
	Sleep(ctx context.Context, d time.Duration) Noticed
	// Changed reports whether another Try is worth its cost.
	Changed(ctx context.Context) (bool, error)
	// Pause is how long to wait before we look again, if the Block has no end by then.
	Pause(now time.Duration) time.Duration
}

// Noticed is what a sleeper has noticed.
type Noticed int

// What a sleeper may notice.
const (
	Nothing   Noticed = iota // until the time was over
	Something                // which makes a look worth its cost
	Nearer                   // somebody before us has gone, but not the last
)

// Try implements backend.Attempt.
func Try[T fmt.Stringer, C Reservation](ctx context.Context, s Steps[T, C]) (backend.Hold, error) {
	h, err := backend.Retry(ctx, MaxRaces, func() (backend.Hold, error) { return race(ctx, s) })
	switch {
	case errors.Is(err, backend.ErrAgain):
		return nil, s.Raced(ctx)
	case err != nil:
		return nil, err
	}
	return h, nil
}

// race takes the lock once. If our reservation is gone, the next one has a new ticket.
func race[T fmt.Stringer, C Reservation](ctx context.Context, s Steps[T, C]) (backend.Hold, error) {
	a := s.State()
	if !a.placed() {
		if err := a.Withdraw(ctx); err != nil {
			return nil, err
		}
	}
	h, err := s.Take(ctx)
	if errors.Is(err, ErrBroken) {
		err = cmp.Or(a.Withdraw(ctx), backend.Again(err))
	}
	return h, err
}

// Withdraw implements backend.Attempt. It removes what is left of our reservation; the next has
// a new ticket. If the removal has no answer it may be executed later, and must not hit a holder
// then.
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

// Stop remembers what to wait for, and returns the error that says so. same says that this stood
// in our way before, too: then it began then.
func (a *Attempt[T, C]) Stop(now time.Duration, b Block[T], same bool, err backend.HeldError) error {
	err.Lock, err.Ahead = string(a.Lock), b.Ahead
	b.Reached = now
	if same {
		b.Reached = a.Block.Reached
	}
	a.Block = b
	return &err
}

// Faster stands for others that were always faster.
func Faster() backend.HeldError {
	return backend.HeldError{Holder: backend.Holder{Verdict: owner.Unknown, Note: "others took turns while we looked"}}
}
