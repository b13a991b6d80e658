package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"locksmith/protocol"
)

// defaultGrace is more than a helper takes that cannot release its lock, and says so: it
// tries for 10 s (--release-timeout), after an answer that it waits for already.
const defaultGrace = 15 * time.Second

// Acquire acquires the lock at an address, or of a profile, waiting for it until
// ctx ends. ctx is for the acquisition only: a lock that is held is not released
// by its end. See the package comment for the errors.
func Acquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return AcquireSet(ctx, []string{address}, options...)
}

// AcquireSet is Acquire for several locks, of any kinds, all or none: one helper takes
// them without waiting in a circle with other sets. "shared:" or "exclusive:" before an
// address is for that lock, the option Shared for all others. The loss of one is the loss
// of all. At least one address is needed, at most 1,024 may be given; one that comes
// twice is taken once.
func AcquireSet(ctx context.Context, addresses []string, options ...Option) (*Lock, error) {
	c := config{grace: defaultGrace, locks: addresses}
	for _, o := range options {
		o(&c)
	}
	a := &acquisition{config: c, name: nameOf(addresses)}
	switch {
	case c.policy == nil || c.once():
		return a.try(ctx, c.patience(), c.waiting != nil && !c.once())
	case c.retries != nil:
		return nil, &HelperError{Lock: a.name, Code: protocol.Usage,
			Text: fmt.Sprintf("%s: acquire: the option Retries does not go with Wait, whose policy counts the tries: let it give up", a.name)}
	}
	return a.byPolicy(ctx)
}

// nameOf is the lock, or the locks, in messages.
func nameOf(locks []string) string {
	if n := len(locks); n > 3 {
		return fmt.Sprintf("%s + %s + %d more", locks[0], locks[1], n-2)
	}
	return strings.Join(locks, " + ")
}

// TryAcquire is Acquire that does not wait, whatever the options say of waiting: ErrHeld
// if somebody has the lock.
func TryAcquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return Acquire(ctx, address, append(options[:len(options):len(options)], Timeout(0))...)
}

// An acquisition is the wish for a lock.
type acquisition struct {
	config
	name  string     // the lock, or the locks, in messages
	held  *HeldError // who had it last; nil: nobody was seen
	begun time.Time
	// What the policy said last, and how often it was asked.
	pause time.Duration // 0: the helper shall wait
	asked int
}

// try has a helper try once, or wait as these arguments say, and tell, if asked to, of
// whom it sees.
func (a *acquisition) try(ctx context.Context, patience []string, tell bool) (*Lock, error) {
	if ctx.Err() != nil {
		return nil, a.stopped(ctx)
	}
	h, err := a.start(a.name, patience, tell)
	if err != nil {
		return nil, err
	}
	for {
		select {
		case held := <-h.seen:
			if err := a.follow(h, held); err != nil {
				return nil, err
			}
		case first := <-h.lines:
			return a.outcome(ctx, h, first)
		case <-ctx.Done():
			return nil, a.leave(ctx, h)
		}
	}
}

// outcome is what comes of a helper's first line.
func (a *acquisition) outcome(ctx context.Context, h *helper, first reading) (*Lock, error) {
	if first.err == nil && first.line.Word == protocol.WordOK {
		lock, err := newLock(ctx, a.name, h, first.line)
		if err == nil {
			return lock, nil
		}
		first.err = err
	}
	go h.discard()
	h.end()
	return nil, refusal(a.name, h, first)
}

// leave ends a helper at the end of ctx, and asks it whom it waited for.
func (a *acquisition) leave(ctx context.Context, h *helper) error {
	last, inTime := h.dismiss()
	if _, isHeld := last.Get("held"); isHeld {
		a.held = heldBy(a.name, last)
	}
	if !inTime {
		return fmt.Errorf("%w; the helper did not end in time and was killed: see locksmith status %s", a.stopped(ctx), a.name)
	}
	return a.stopped(ctx)
}

// stopped is why there is no lock at the end of ctx: that, and who had it.
func (a *acquisition) stopped(ctx context.Context) error {
	limit, isTimeout := context.Cause(ctx).(outOfTime)
	switch {
	case isTimeout && a.held == nil:
		return &HelperError{Lock: a.name, Code: protocol.Unreachable, Text: fmt.Sprintf("%s: no answer within %v", a.name, time.Duration(limit))}
	case isTimeout:
		return &HeldError{Lock: a.name, Code: protocol.Timeout, Holder: a.held.Holder, Text: fmt.Sprintf("%s; %v", a.held.Text, limit)}
	case a.held == nil:
		return fmt.Errorf("%s: acquire: %w", a.name, ended{ctx})
	}
	return fmt.Errorf("%w; gave up waiting: %w", a.held, ended{ctx})
}

// refusal explains a first line that is not OK.
func refusal(address string, h *helper, first reading) error {
	switch {
	case errors.Is(first.err, io.EOF):
		return &ProtocolError{Lock: address, Helper: h.String(), Err: fmt.Errorf("it ended without a line (%v)", h.cmd.ProcessState)}
	case first.err != nil:
		return &ProtocolError{Lock: address, Helper: h.String(), Err: first.err}
	case first.line.Word != protocol.WordErr:
		return &ProtocolError{Lock: address, Helper: h.String(), Err: fmt.Errorf("its first line is %s", first.line.Word)}
	}
	code := protocol.Code(first.line.Value("code"))
	if code == protocol.Held || code == protocol.Timeout {
		return heldBy(address, first.line)
	}
	return &HelperError{Lock: address, Code: code, Text: first.line.Text}
}

// heldBy is what an ERR line says of a holder.
func heldBy(address string, l protocol.Line) *HeldError {
	return &HeldError{Lock: address, Code: protocol.Code(l.Value("code")), Holder: protocol.ParseHolder(l), Text: l.Text}
}
