package locksmith

import (
	"errors"
	"fmt"
	"os"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// CodeOf returns the code that an error of Helper.Run stands for.
func CodeOf(err error) protocol.Code {
	var timeout *TimeoutError
	var cancelled *CancelledError
	if loss := asLoss(err); loss != nil {
		return loss.Code
	}
	var recent *RecentError
	switch {
	case errors.As(err, &recent):
		return protocol.Recent
	case errors.As(err, new(*AnswerError)):
		return protocol.Usage
	case errors.As(err, &timeout) && timeout.Held == nil:
		return protocol.Unreachable
	case errors.As(err, &timeout):
		return protocol.Timeout
	case errors.As(err, &cancelled):
		return protocol.Cancelled
	}
	return backend.CodeOf(err)
}

// A LossError says that a lock that was held is lost.
type LossError struct {
	Lock string
	Code protocol.Code // gone, expired, unreleased or max_hold
	Err  error         // the cause
	// Left is how long the client has to stop. It is what remains of the lease, because others
	// that go by the lease do not take the lock earlier. After max_hold it is also at most
	// stopTime.
	Left time.Duration
	// By is the note of who broke the lock by hand; nil: no note is known.
	By *owner.Note
}

func (e *LossError) Error() string {
	if e.Code == protocol.Unreleased {
		return e.Lock + ": " + e.sentence()
	}
	return e.Lock + ": lost: " + e.sentence()
}

// sentence says what happened to the lost lock, and what to do.
func (e *LossError) sentence() string {
	switch e.Code {
	case protocol.Gone:
		what := "somebody removed or broke the lock"
		if e.By != nil {
			what = e.By.String()
		}
		return fmt.Sprintf("%s (%s): stop what it guards, which others may use by now", what, e.where())
	case protocol.MaxHold:
		return fmt.Sprintf("%v; stop what it guards", e.Err)
	case protocol.Expired:
		return fmt.Sprintf("the lease could not be renewed in time: %v; stop what it guards, and look for what stopped this machine or the lock's place for so long", e.Err)
	}
	if errors.Is(e.Err, backend.ErrStays) {
		return fmt.Sprintf("not released: %v", e.Err)
	}
	return fmt.Sprintf("not released: %v; it frees itself when the lease is over, in %v", e.Err, e.Left.Round(time.Millisecond))
}

// where says which operation noticed that the lock is gone, and of a set also which lock it was.
func (e *LossError) where() string {
	own, ok := errors.AsType[*backend.Error](e.Err)
	switch {
	case !ok:
		return e.Err.Error()
	case own.Lock == e.Lock:
		return "noticed by: " + own.Op
	}
	return own.Lock + ", noticed by: " + own.Op
}

func (e *LossError) Unwrap() error { return e.Err }

// asLoss returns the loss that an error is, or nil.
func asLoss(err error) *LossError {
	var loss *LossError
	errors.As(err, &loss)
	return loss
}

// A CancelledError says that the lock was no longer wanted before it was held.
type CancelledError struct {
	Lock  string
	Cause error
	Held  *backend.HeldError // who held the lock; nil: nobody was seen
}

func (e *CancelledError) Error() string {
	if e.Held != nil {
		return fmt.Sprintf("%v; gave up waiting: %v", e.Held, e.Cause)
	}
	return fmt.Sprintf("%s: gave up waiting: %v", e.Lock, e.Cause)
}

// Unwrap also lets errors.As find the *backend.HeldError.
func (e *CancelledError) Unwrap() []error {
	if e.Held == nil {
		return []error{e.Cause}
	}
	return []error{e.Cause, e.Held}
}

// A TimeoutError says that somebody held the lock for all of the given time, or that its place
// did not answer.
type TimeoutError struct {
	Waited time.Duration
	Held   *backend.HeldError // nil if the place never answered
	// Unanswered is why the place never answered, if that is known.
	Unanswered error
	Lock       string
	Tries      int // how many tries were allowed, if all were used up
}

func (e *TimeoutError) Error() string {
	waited := e.Waited.Round(time.Millisecond)
	why := e.Unwrap()
	switch {
	case why == nil:
		return fmt.Sprintf("%s: no answer within %v", e.Lock, waited)
	case e.Tries == 1:
		return fmt.Sprintf("%v; gave up after one try", why)
	case e.Tries > 1:
		return fmt.Sprintf("%v; gave up after %d tries in %v", why, e.Tries, waited)
	}
	return fmt.Sprintf("%v; gave up after %v", why, waited)
}

// Unwrap lets errors.As find the *backend.HeldError, or the reason why there was no answer.
func (e *TimeoutError) Unwrap() error {
	if e.Held == nil {
		return e.Unanswered
	}
	return e.Held
}

// A SignalError is a signal that ends the wish for a lock.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "signal " + e.Signal.String() }
