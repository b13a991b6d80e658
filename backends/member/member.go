package member

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// A Member is one of the locks, during one attempt and the hold that comes of it. One goroutine at a
// time uses it.
type Member struct {
	Lock
	// Pulse is of the hold: Confirmed is when we sent the last request that proved it ours.
	owner.Pulse
	attempt backend.Attempt // begun and refused; nil: there is none
	asked   time.Duration   // the lease of its request, and of the hold that came of it
	// abandoned says that the attempt will not be used again, but withdrawn: by a call that hangs, if
	// there is one, and else before the next attempt.
	abandoned atomic.Bool
	// Hold is the lock's hold; nil: the lock is not held.
	Hold backend.Hold
	// leaving says that Hold was to be released, but no answer said that it was. The request may
	// have been executed, or may be executed yet.
	leaving bool
	// lost is the hold that a call found to be gone; nil: no hold was lost.
	lost backend.Hold
	// end is why there is no hold any more, if it was not released in good order.
	end   error
	calls detached.Line
}

// New returns a member for a lock that is not held.
func New(l Lock, c clock.Clock) *Member {
	return &Member{Lock: l, Pulse: owner.Pulse{Clock: c}, calls: detached.Line{Clock: c}}
}

// AnswerTime is how long a call may go on after its context has ended. It is less than the time
// the helper gives us, so that a lock that hangs leaves time for the others.
const AnswerTime = 300 * time.Millisecond

// call makes a call for the member. If the call hangs, it is left behind, and late is called when
// it comes back.
func (m *Member) call(ctx context.Context, f func(context.Context) error, late func(error)) error {
	_, err := m.calls.Call(ctx, detached.Bounds{Limit: backend.NoLimit, Grace: AnswerTime}, f, late)
	return err
}

// Begin begins an attempt, unless there is one.
func (m *Member) Begin(r backend.Request) error {
	if m.attempt != nil {
		return nil
	}
	asked := m.Ask(r)
	a, err := m.Locker.Attempt(asked)
	if err == nil {
		m.attempt, m.asked = a, asked.Owner.Lease
		m.abandoned.Store(false)
	}
	return err
}

// Held reports whether the lock is held, and Release was not called.
func (m *Member) Held() bool { return m.Hold != nil && !m.leaving }

// Try tries once. A lock that comes too late is given back, and ends its attempt. A lock whose
// release had no answer is first released: not even a heartbeat that succeeds would prove that it
// stays ours.
func (m *Member) Try(ctx context.Context, r backend.Request) error {
	if !m.calls.Free(ctx, backend.NoLimit, 0) {
		return &backend.HeldError{Lock: m.Address, Obstacle: backend.ErrNoAnswer}
	}
	if err := m.leave(ctx); err != nil {
		return err
	}
	if err := m.Begin(r); err != nil {
		return err
	}
	attempt, sent := m.attempt, m.Clock.Now()
	var hold backend.Hold
	err := m.call(ctx, func(ctx context.Context) (err error) {
		hold, err = attempt.Try(ctx)
		return err
	}, func(err error) {
		if err != nil {
			m.tidy(err)
			return
		}
		m.attempt, m.end = nil, m.releaseLate(hold, r.Owner.Lease)
	})
	if errors.Is(err, backend.ErrNoAnswer) {
		return &backend.HeldError{Lock: m.Address, Obstacle: err}
	}
	if err == nil {
		m.attempt, m.Hold, m.Confirmed, m.lost, m.end = nil, hold, sent, nil, nil
		m.Lease = r.Owner.Lease
	}
	return err
}

// leave ends a withdrawal that failed, or a release that had no answer. If what is left of the last
// hold keeps everybody out, leave says so once, whoever released that hold. By the next try somebody
// may have removed what was left.
func (m *Member) leave(ctx context.Context) error {
	if m.attempt != nil && m.abandoned.Load() {
		return m.Withdraw(ctx)
	}
	switch err := m.Release(ctx); {
	case m.Hold != nil:
		return &backend.HeldError{Lock: m.Address, Obstacle: fmt.Errorf("release it before it is taken again: %w", err)}
	case errors.Is(err, backend.ErrStays):
		m.end = nil
		return err
	}
	return nil
}

// leaveAgain is the pause before a lock is released again that could not be released, or an attempt
// is withdrawn again.
const leaveAgain = time.Second

// releaseLate releases a lock that came too late. It tries again while it has no answer, for as long
// as the lease: after that others can break the lock.
func (m *Member) releaseLate(late backend.Hold, lease time.Duration) error {
	ctx, until := context.Background(), m.Clock.Now()+lease
	err := late.Release(ctx)
	for !isOver(err) && m.Clock.Now() < until {
		clock.Sleep(ctx, m.Clock, leaveAgain)
		err = late.Release(ctx)
	}
	return err
}

// Wait waits until another try is worth its cost, and first of all for a call that hangs.
func (m *Member) Wait(ctx context.Context) error {
	return m.call(ctx, func(ctx context.Context) error {
		switch {
		case m.leaving, m.attempt != nil && m.abandoned.Load():
			clock.Sleep(ctx, m.Clock, leaveAgain)
		case m.attempt != nil:
			return m.attempt.Wait(ctx)
		}
		return ctx.Err()
	}, m.tidy)
}

// tidy withdraws an abandoned attempt after a call that hung.
func (m *Member) tidy(error) {
	if m.attempt != nil && m.abandoned.Load() {
		m.withdrawn(m.attempt.Withdraw(context.Background()))
	}
}

// End releases the lock, or removes every trace of a refused attempt.
func (m *Member) End(ctx context.Context) error {
	err := m.Withdraw(ctx)
	if m.Hold != nil {
		return m.Release(ctx)
	}
	return err
}

// Withdraw removes every trace of a refused attempt. After an error it may be called again.
func (m *Member) Withdraw(ctx context.Context) error {
	m.abandoned.Store(true)
	err := m.call(ctx, func(ctx context.Context) error {
		if m.attempt == nil {
			return nil
		}
		return m.attempt.Withdraw(ctx)
	}, m.withdrawn)
	if errors.Is(err, backend.ErrNoAnswer) {
		return fmt.Errorf("%s: withdraw: %w", m.Address, err)
	}
	m.withdrawn(err)
	return err
}

// withdrawn notes what a withdrawal returned. After an error there may be a trace of the attempt, or
// even its lock, so the attempt stays.
func (m *Member) withdrawn(err error) {
	if err == nil {
		m.attempt = nil
	}
}

// Lapsed reports that the lease was over before a heartbeat succeeded. After that no heartbeat
// proves anything, unless the system keeps the lock: a breaker may have looked before it.
func (m *Member) Lapsed() bool {
	return m.Overdue() && !backend.Kept(m.Hold)
}

// Heartbeat makes sure that the member is still held.
func (m *Member) Heartbeat(ctx context.Context) error {
	sent := m.Clock.Now()
	err := m.call(ctx, m.Hold.Heartbeat, nil)
	if err == nil && !m.Lapsed() {
		m.Confirmed = sent
	}
	m.noteLoss(err)
	return err
}

// noteLoss remembers the hold if err says that it is gone.
func (m *Member) noteLoss(err error) {
	if errors.Is(err, backend.ErrGone) {
		m.lost = m.Hold
	}
}

// Release gives the member back. If it is called again on a lock that is gone, the answer stays
// the same.
func (m *Member) Release(ctx context.Context) error {
	if m.Hold == nil {
		return m.end
	}
	m.leaving = true
	err := m.call(ctx, m.Hold.Release, nil)
	m.noteLoss(err)
	if isOver(err) {
		m.Hold, m.end, m.leaving = nil, err, false
	}
	return err
}

// isOver reports whether a release that returned err need not be repeated.
func isOver(err error) bool {
	return err == nil || errors.Is(err, backend.ErrGone) || errors.Is(err, backend.ErrStays)
}

// NoteOf returns the note about the end of a hold of the lock, or nil if there is none.
func (m *Member) NoteOf(ctx context.Context, h backend.Hold) (*owner.Note, error) {
	return shelf.NoteOf(ctx, m.Locker, h, m.asked)
}

// Note returns the note about the hold that was lost, or nil if no hold was lost or there is no note.
func (m *Member) Note(ctx context.Context) (*owner.Note, error) {
	if m.lost == nil {
		return nil, nil
	}
	var note *owner.Note // a call that is left behind may write this later
	err := m.call(ctx, func(ctx context.Context) (err error) {
		note, err = m.NoteOf(ctx, m.lost)
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return note, nil
}
