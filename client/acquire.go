package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"locksmith/protocol"
)

// An acquisition is the attempt to get a lock, with one helper or, as a policy says, with
// several in turn.
type acquisition struct {
	config
	name  string     // the lock, or the locks, in messages
	held  *HeldError // the last holder that was seen; nil: none
	begun time.Time
	// What the policy said last, and how often it was asked.
	pause time.Duration // 0: the helper shall wait
	asked int
}

// try starts a helper with flags that say how long to wait. It follows the holders that the
// helper sees if events is set.
func (a *acquisition) try(ctx context.Context, waitFlags []string, events bool) (*Lock, error) {
	if ctx.Err() != nil {
		return nil, a.stopped(ctx)
	}
	h, err := a.start(a.name, waitFlags, events)
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
			if first.err == nil && first.line.Word == protocol.WordBusy {
				if err := a.answer(h, first.line); err != nil {
					return nil, err
				}
				continue
			}
			return a.outcome(ctx, h, first)
		case <-ctx.Done():
			return nil, a.leave(ctx, h)
		}
	}
}

// outcome is what comes of a helper's first line.
func (a *acquisition) outcome(ctx context.Context, h *helper, first reading) (*Lock, error) {
	if first.err == nil && first.line.Word == protocol.WordOK {
		name := a.name
		if a.any { // now it is known which one
			name = cmp.Or(first.line.Value("lock"), name)
		}
		lock, err := newLock(ctx, name, a.locks, h, first.line)
		if err == nil {
			lock.waited = time.Since(a.begun)
			if a.any {
				lock.index = a.indexOf(lock.grant)
			}
			return a.checked(lock)
		}
		first.err = err
	}
	go h.discard()
	h.end()
	return nil, a.refusal(h, first)
}

// checked returns the lock, or gives it back if it lacks what was asked for.
func (a *acquisition) checked(l *Lock) (*Lock, error) {
	if !a.fenced || !slices.Contains(l.Tokens(), 0) {
		return l, nil
	}
	text := l.Address() + ": acquire: it comes without a fencing token, and the option Fenced asks for one: use nfs:, sftp: or s3:, or ?style=dir with mkdir: or ftp:, or leave the option out where nothing looks at tokens"
	if err := l.Release(); err != nil {
		text += fmt.Sprintf(" (and giving it back failed: %v)", err)
	}
	return nil, &HelperError{Lock: l.Address(), Code: protocol.Usage, Text: text}
}

// indexOf returns which of the locks that would do was granted, or -1. Helpers of others may not
// say.
func (a *acquisition) indexOf(g protocol.Grant) int {
	if g.Index > 0 && g.Index <= len(a.locks) {
		return g.Index - 1
	}
	return slices.Index(a.locks, g.Lock)
}

// leave ends a helper at the end of ctx. The helper's last line names the holder it waited for.
func (a *acquisition) leave(ctx context.Context, h *helper) error {
	last, inTime := h.dismiss()
	if _, isHeld := last.Get("held"); isHeld {
		a.held = a.heldBy(last)
	}
	if !inTime {
		return fmt.Errorf("%w; the helper did not end in time and was killed: see locksmith status %s", a.stopped(ctx), a.name)
	}
	return a.stopped(ctx)
}

// stopped is the error at the end of ctx, with the holder that was seen.
func (a *acquisition) stopped(ctx context.Context) error {
	limit, isTimeout := context.Cause(ctx).(outOfTime)
	switch {
	case isTimeout && a.held == nil:
		return &HelperError{Lock: a.name, Code: protocol.Unreachable, Text: fmt.Sprintf("%s: no answer within %v", a.name, time.Duration(limit))}
	case isTimeout:
		return &HeldError{Lock: a.name, Code: protocol.Timeout, Holder: a.held.Holder, Text: fmt.Sprintf("%s; %v", a.held.Text, limit), Waited: time.Since(a.begun)}
	case a.held == nil:
		return fmt.Errorf("%s: acquire: %w", a.name, ended{ctx})
	}
	a.held.Waited = time.Since(a.begun)
	return fmt.Errorf("%w; gave up waiting: %w", a.held, ended{ctx})
}

// refusal explains a first line that is not OK.
func (a *acquisition) refusal(h *helper, first reading) error {
	address := a.name
	switch {
	case errors.Is(first.err, io.EOF):
		return &ProtocolError{Lock: address, Helper: h.String(), Itself: h.itself, Err: fmt.Errorf("it ended without a line (%v)", h.cmd.ProcessState)}
	case first.err != nil:
		return &ProtocolError{Lock: address, Helper: h.String(), Itself: h.itself, Err: first.err}
	case first.line.Word != protocol.WordErr:
		return &ProtocolError{Lock: address, Helper: h.String(), Itself: h.itself, Err: fmt.Errorf("its first line is %s", first.line.Word)}
	}
	code := protocol.Code(first.line.Value("code"))
	if code == protocol.Held || code == protocol.Timeout {
		return a.heldBy(first.line)
	}
	return &HelperError{Lock: address, Code: code, Text: first.line.Text}
}

// heldBy is the error that an ERR line with a holder stands for.
func (a *acquisition) heldBy(l protocol.Line) *HeldError {
	return &HeldError{Lock: a.name, Code: protocol.Code(l.Value("code")), Holder: protocol.ParseHolder(l), Text: l.Text, Waited: time.Since(a.begun)}
}
