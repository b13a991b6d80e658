package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/protocol"
)

var (
	// ErrHeld says that somebody else holds the lock.
	ErrHeld = errors.New("lock is held")
	// ErrReleased is returned by the second Release.
	ErrReleased = errors.New("lock was released before")
	// ErrNoHelper says that there is no locksmith program to start.
	ErrNoHelper = errors.New("locksmith helper not found")
	// ErrNoName says that a lock cannot be named after a file.
	ErrNoName = errors.New("no lock can be named after it")
	// ErrGaveUp says that the wait policy gave up.
	ErrGaveUp = errors.New("the wait policy gave up")
)

// A HeldError tells who holds the lock. errors.Is(err, ErrHeld) is true of it.
type HeldError struct {
	Lock   string
	Code   protocol.Code // held, timeout, or cancelled at the end of the context
	Holder protocol.Holder
	Text   string // the same in words
}

func (e *HeldError) Error() string { return e.Text }

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// isOther reports that it is somebody else who has the lock; who has no id, as a script,
// may have a pid.
func (e *HeldError) isOther(h protocol.Holder) bool {
	return e.Holder.ID != h.ID || h.ID == "" && e.Holder.PID != h.PID
}

// A HelperError is why the helper could not get the lock, in its own words, or could
// not be given such long arguments (Code is usage then).
type HelperError struct {
	Lock string
	Code protocol.Code
	Text string
}

func (e *HelperError) Error() string { return e.Text }

// A ProtocolError says that what was started is not a locksmith, or died before
// it said anything.
type ProtocolError struct {
	Lock   string
	Helper string // its command line
	Err    error
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("%s: acquire: %s does not speak as a locksmith: %v; is it the right program?", e.Lock, e.Helper, e.Err)
}

func (e *ProtocolError) Unwrap() error { return e.Err }

// A LostError says that a lock was lost while it was held, or could not be
// released.
type LostError struct {
	Lock string
	Code protocol.Code // gone, expired, unreleased, or internal if the helper died
	Text string
}

func (e *LostError) Error() string { return e.Text }

// An ended is the end of a context: that it was cancelled or its time over, and the cause.
type ended struct{ ctx context.Context }

func (e ended) Error() string { return context.Cause(e.ctx).Error() }

func (e ended) Unwrap() []error { return []error{e.ctx.Err(), context.Cause(e.ctx)} }

// outOfTime is the cause of a context that ends after the time of the option Timeout.
type outOfTime time.Duration

func (d outOfTime) Error() string { return fmt.Sprintf("gave up after %v", time.Duration(d)) }
