package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/protocol"
)

// A Code says in one word why a lock is not held, or was lost: the field Code of errors. The codes
// are constants of package protocol, such as protocol.Unreachable and protocol.Gone.
type Code = protocol.Code

// A Holder is who holds a lock, as far as it is known.
type Holder = protocol.Holder

var (
	// ErrHeld says that another holder has the lock.
	ErrHeld = errors.New("lock is held")
	// ErrLost says that a lock was lost while it was held, or could not be released.
	ErrLost = errors.New("lock is lost")
	// ErrReleased is returned by the second Release. It is also the cause with which the first
	// Release ends [Lock.Context].
	ErrReleased = errors.New("lock was released before")
	// ErrNoHelper says that there is no locksmith program to start.
	ErrNoHelper = errors.New("locksmith helper not found")
	// ErrUsage says that a call makes no sense: an option, an address, or a name for [LockName]. The
	// text names the lock and the option.
	ErrUsage = errors.New("the call makes no sense")
	// ErrGaveUp says that the wait policy gave up.
	ErrGaveUp = errors.New("the wait policy gave up")
)

// A HeldError tells who holds the lock. errors.Is(err, ErrHeld) is true of it.
type HeldError struct {
	Lock   string        // the address, or a few of a set
	Code   Code          // held, timeout, or cancelled at the end of the context
	Holder Holder        // what is not known is zero
	Text   string        // the same in words
	Waited time.Duration // since the call began
}

func (e *HeldError) Error() string { return e.Text }

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// isOther reports whether h is not the holder of e. A holder without an id, such as a script,
// may have a pid.
func (e *HeldError) isOther(h Holder) bool {
	return e.Holder.ID != h.ID || h.ID == "" && e.Holder.PID != h.PID
}

// A HelperError is why the helper could not get the lock, in its own words, or why a helper that
// exists could not be started. Then Code is usage if its arguments are too long, and internal if
// the system has no file, process or memory for it at the moment.
type HelperError struct {
	Lock string // the address, or a few of a set
	Code Code   // what kind of reason it is
	Text string // why, and what to do
	Err  error  // of the system, if the helper could not be started; else nil
}

func (e *HelperError) Error() string { return e.Text }

func (e *HelperError) Unwrap() error { return e.Err }

// A ProtocolError says that what was started is not a locksmith, or died before
// it wrote a line.
type ProtocolError struct {
	Lock   string // the address, or a few of a set
	Helper string // its command line
	Itself bool   // what was started is this program: see [Init]
	Err    error  // what is wrong
}

func (e *ProtocolError) Error() string {
	if e.Itself {
		return fmt.Sprintf("%s: acquire: %s, which is this program, does not speak as a locksmith: %v; call client.Init first in main, and let no package's init write to standard output or end the process", e.Lock, e.Helper, e.Err)
	}
	if newer, ok := errors.AsType[*protocol.NewerError](e.Err); ok {
		return fmt.Sprintf("%s: acquire: %s: %v", e.Lock, e.Helper, newer)
	}
	return fmt.Sprintf("%s: acquire: %s does not speak as a locksmith: %v; is it the right program?", e.Lock, e.Helper, e.Err)
}

func (e *ProtocolError) Unwrap() error { return e.Err }

// A LostError says that a lock was lost while it was held, or could not be released.
// errors.Is(err, ErrLost) is true of it.
type LostError struct {
	Lock string // the address, or a few of a set
	Code Code   // gone, expired, unreleased, max_hold, or internal if the helper died
	Text string // the same in words
	// Work is what the function that Do called returned. It is no cause of the loss, so
	// errors.Is and errors.As do not look into it.
	Work error
}

func (e *LostError) Error() string {
	if e.Work != nil && e.Work.Error() != e.Text { // work that ended because of the loss says the same
		return fmt.Sprintf("%s; the work under it ended with: %v", e.Text, e.Work)
	}
	return e.Text
}

// Is makes errors.Is(err, ErrLost) true.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// during adds to the loss what Do tells of work that ended with an error or nil. The loss has
// ended the work's context. So the work's context.Canceled says nothing of the caller's context,
// which during looks at instead.
func (e *LostError) during(work error, caller context.Context) error {
	loss := *e
	loss.Work = work
	if caller.Err() == nil {
		return &loss
	}
	return lostAtEnd{&loss, caller}
}

// lostAtEnd is a loss told to a caller whose own context has ended, too.
type lostAtEnd struct {
	*LostError
	caller context.Context
}

func (e lostAtEnd) Unwrap() []error { return []error{e.LostError, ended{e.caller}} }

// ended is the error of a context that has ended, and its cause.
type ended struct{ ctx context.Context }

func (e ended) Error() string { return context.Cause(e.ctx).Error() }

func (e ended) Unwrap() []error { return []error{e.ctx.Err(), context.Cause(e.ctx)} }

// outOfTime is the cause of a context that ends after the time of the option Timeout.
type outOfTime time.Duration

func (d outOfTime) Error() string { return fmt.Sprintf("gave up after %v", time.Duration(d)) }
