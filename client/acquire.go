package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
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
	h, err := a.start(ctx, a.name, waitFlags, events)
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
			if first, answered := a.late(ctx, h); answered {
				return a.outcome(ctx, h, first)
			}
			return nil, a.leave(ctx, h)
		}
	}
}

const (
	// answersIn is how much longer than its timeout a helper may take for its first line: two
	// seconds, but for the looks that follow.
	answersIn = 2*time.Second - looksAgain - lastWords
	// serverAnswers replaces answersIn for one try at a server, which a helper gives 30 s for an
	// answer. A helper that is given a timeout bounds that, too.
	serverAnswers = 30*time.Second + answersIn
)

// bounded is ctx, which ends, too, when a helper ought to have answered that has a timeout. Beside a
// policy it is this program that counts the time.
func (a *acquisition) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.timeout == nil {
		return ctx, func() {}
	}
	limit := *a.timeout
	switch {
	case limit == 0 && !a.isHere():
		limit = serverAnswers
	case a.policy == nil || limit == 0:
		limit += min(answersIn, math.MaxInt64-limit)
	}
	return context.WithTimeoutCause(ctx, limit, outOfTime(limit))
}

// isHere reports whether no lock can be on a server. A profile may be of one.
func (a *acquisition) isHere() bool {
	return !slices.ContainsFunc(a.locks, func(lock string) bool {
		kind, _, _ := strings.Cut(withoutMode(lock), ":")
		return !slices.Contains([]string{"local", "flock", "link", "mkdir", "nfs"}, kind)
	})
}

// late returns the helper's first line if it was there in time, and it was this process that did
// not run.
func (a *acquisition) late(ctx context.Context, h *helper) (first reading, answered bool) {
	if _, isTimeout := context.Cause(ctx).(outOfTime); !isTimeout || a.policy != nil && !a.once() {
		return reading{}, false
	}
	return hear(context.Background(), h.lines, looksAgain)
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
			return a.checked(ctx, lock)
		}
		first.err = err
	}
	go h.discard()
	h.part(time.After(lastWords))
	return nil, a.refusal(h, first)
}

// checked returns the lock, or gives it back if it lacks what was asked for.
func (a *acquisition) checked(ctx context.Context, l *Lock) (*Lock, error) {
	if !a.fenced || !slices.Contains(l.Tokens(), 0) {
		return l, nil
	}
	text := l.Address() + ": acquire: it comes without a fencing token, and the option Fenced asks for one: use nfs:, sftp: or s3:, or ?style=dir with mkdir: or ftp:, or leave the option out where nothing looks at tokens"
	if err := l.ReleaseContext(ctx); err != nil {
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

// leave ends a helper at the end of ctx. If the helper's last line comes at once, it names the holder
// that the helper waited for.
func (a *acquisition) leave(ctx context.Context, h *helper) error {
	last, hasEnded := h.dismiss()
	if _, isHeld := last.Get("held"); isHeld {
		a.held = a.heldBy(last)
	}
	switch {
	case h.killed.Load():
		return fmt.Errorf("%w; the helper did not end in time and was killed: see locksmith status %s", a.stopped(ctx), a.name)
	case !hasEnded:
		return fmt.Errorf("%w; the helper has not ended yet: within %v it does, or is killed; see locksmith status %s", a.stopped(ctx), h.grace, a.name)
	}
	return a.stopped(ctx)
}

// stopped is the error at the end of ctx, with the holder that was seen.
func (a *acquisition) stopped(ctx context.Context) error {
	limit, isTimeout := context.Cause(ctx).(outOfTime)
	switch {
	case isTimeout && a.held == nil:
		return &HelperError{Lock: a.name, Code: protocol.Unreachable, Text: fmt.Sprintf("%s: no answer within %v: is the helper stopped, or what it waits for?", a.name, time.Duration(limit))}
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
		return &ProtocolError{Lock: address, Helper: h.String(), Itself: h.itself, Err: fmt.Errorf("it ended without a line (%s)", h.fate())}
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
