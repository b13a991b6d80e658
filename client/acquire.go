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

// An acquisition is the attempt to get a lock.
type acquisition struct {
	config
	callers context.Context // without the client's own bound
	name    string          // the lock, or the locks, in messages
	held    *HeldError      // the last holder that was seen; nil: none
	begun   time.Time
	asked   int // how often the policy was
}

const (
	// answersIn is how much longer than its timeout a helper may take for its first line: two
	// seconds, but for the looks that follow.
	answersIn = 2*time.Second - looksAgain - lastWords
	// serverAnswers replaces answersIn for one try at a server, which a helper gives 30 s for an
	// answer. A helper that is given a timeout bounds that, too.
	serverAnswers = 30*time.Second + answersIn
)

// acquire starts a helper, and waits until it has the lock.
func acquire(ctx context.Context, c config) (*Lock, error) {
	a := &acquisition{config: c, callers: ctx, name: nameOf(c.locks), begun: time.Now()}
	if ctx.Err() != nil {
		return nil, a.stopped(ctx)
	}
	if a.timeout != nil {
		limit := *a.timeout + min(answersIn, math.MaxInt64-*a.timeout)
		if a.once() && !a.isHere() {
			limit = serverAnswers
		}
		bounded, cancel := context.WithTimeoutCause(ctx, limit, outOfTime(limit))
		defer cancel()
		ctx = bounded
	}
	h, err := a.start(ctx, a.name)
	if err != nil {
		return nil, err
	}
	for {
		first, err := a.hear(ctx, h)
		switch {
		case err != nil:
			return nil, err
		case first.err != nil || first.line.Word != protocol.WordBusy:
			return a.outcome(ctx, h, first)
		}
		if err := a.answer(h, first.line); err != nil {
			return nil, err
		}
	}
}

// isHere reports whether no lock can be on a server. A profile may be of one.
func (a *acquisition) isHere() bool {
	return !slices.ContainsFunc(a.locks, func(lock string) bool {
		kind, _, _ := strings.Cut(withoutMode(lock), ":")
		return !slices.Contains([]string{"local", "flock", "link", "mkdir", "nfs"}, kind)
	})
}

// hear returns the helper's next line. At the end of ctx the helper ends. If it is the client's own
// time that is over, it may be this process that did not run: then the line is there.
func (a *acquisition) hear(ctx context.Context, h *helper) (reading, error) {
	select {
	case line := <-h.lines:
		return line, nil
	case <-ctx.Done():
	}
	if _, isTimeout := context.Cause(ctx).(outOfTime); isTimeout {
		if line, answered := hear(a.callers, h.lines, looksAgain); answered {
			return line, nil
		}
	}
	return reading{}, a.leave(ctx, h)
}

// outcome is what comes of a helper's first line.
func (a *acquisition) outcome(ctx context.Context, h *helper, first reading) (*Lock, error) {
	if first.err == nil && first.line.Word == protocol.WordOK {
		name := a.name
		if a.any { // now it is known which one
			name = cmp.Or(first.line.Value("lock"), name)
		}
		lock, err := newLock(a.callers, name, a.locks, h, first.line)
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
	text := l.Address() + ": acquire: it comes without a fencing token, and the option Fenced asks for one: use nfs:, sftp:, s3: or etcd:, or ?style=dir with mkdir: or ftp:, or leave the option out where nothing looks at tokens"
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
	err := a.stopped(ctx)
	switch {
	case h.killed.Load():
		return fmt.Errorf("%w; the helper did not end in time and was killed: see locksmith status %s", err, a.name)
	case !hasEnded:
		return fmt.Errorf("%w; the helper has not ended yet: within %v it does, or is killed; see locksmith status %s", err, h.grace, a.name)
	}
	return err
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
	nonsense := &ProtocolError{Lock: a.name, Helper: h.String(), Itself: h.itself, Err: first.err}
	switch {
	case errors.Is(first.err, io.EOF):
		nonsense.Err = fmt.Errorf("it ended without a line (%s)", h.fate())
		return nonsense
	case first.err != nil:
		return nonsense
	case first.line.Word != protocol.WordErr:
		nonsense.Err = fmt.Errorf("its first line is %s", first.line.Word)
		return nonsense
	}
	code := protocol.Code(first.line.Value("code"))
	if code == protocol.Held || code == protocol.Timeout {
		return a.heldBy(first.line)
	}
	return &HelperError{Lock: a.name, Code: code, Text: first.line.Text}
}

// heldBy is the error that a line with a holder stands for.
func (a *acquisition) heldBy(l protocol.Line) *HeldError {
	code := cmp.Or(protocol.Code(l.Value("code")), protocol.Held) // BUSY has none
	return &HeldError{Lock: a.name, Code: code, Holder: protocol.ParseHolder(l), Text: l.Text, Waited: time.Since(a.begun)}
}
