package set

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
)

// A member is a lock of a set, during one attempt and the hold that comes of it.
type member struct {
	Lock
	key     string
	clock   clock.Clock
	attempt backend.Attempt // begun and refused; nil: there is none
	// abandoned says that an attempt whose call hangs will not be used again.
	abandoned atomic.Bool
	hold      backend.Hold // nil: not held
	// confirmed is when we sent the last request that proved the hold ours.
	confirmed time.Duration
	// lost is the hold that a call found to be gone; nil: no hold was lost.
	lost backend.Hold
	// end is why there is no hold any more, if it was not released in good order.
	end error
	// hung is a call that was left behind, with what follows it. No other call may be made before
	// it is over. nil: there is none.
	hung *detached.ErrCall
}

// answerTime is how long a call may go on after its context has ended. It is less than the time
// the helper gives us, so that a lock that hangs leaves time for the others.
const answerTime = 300 * time.Millisecond

// call makes a call for the member. If the call hangs, it is left behind, and late is called when
// it comes back.
func (m *member) call(ctx context.Context, f func(context.Context) error, late func(error)) error {
	if err := m.await(ctx); err != nil {
		return err
	}
	call := detached.GoErr(func() error { return f(ctx) })
	if call.Await(ctx, m.clock, backend.NoLimit, answerTime) {
		_, err := call.Result()
		return err
	}
	m.hung = detached.GoErr(func() error {
		_, err := call.Result()
		if late != nil {
			late(err)
		}
		return err
	})
	return backend.ErrNoAnswer
}

// await waits for a call that was left behind.
func (m *member) await(ctx context.Context) error {
	if m.hung == nil {
		return nil
	}
	select {
	case <-m.hung.Done():
		m.hung = nil
		return nil
	case <-ctx.Done():
		return backend.ErrNoAnswer
	}
}

// try tries once. A lock that comes too late is given back, and ends its attempt.
func (m *member) try(ctx context.Context, r backend.Request) error {
	if err := m.await(ctx); err != nil {
		return &backend.HeldError{Lock: m.Address, Obstacle: err}
	}
	if m.attempt == nil {
		a, err := m.Locker.Attempt(m.Ask(r))
		if err != nil {
			return err
		}
		m.attempt = a
	}
	attempt, sent := m.attempt, m.clock.Now()
	var hold backend.Hold
	err := m.call(ctx, func(ctx context.Context) (err error) {
		hold, err = attempt.Try(ctx)
		return err
	}, func(err error) {
		switch {
		case err == nil:
			_ = hold.Release(context.Background())
			m.attempt = nil
		case m.abandoned.Load():
			_ = attempt.Withdraw(context.Background())
		}
	})
	if errors.Is(err, backend.ErrNoAnswer) {
		return &backend.HeldError{Lock: m.Address, Obstacle: err}
	}
	if err == nil {
		m.attempt, m.hold, m.confirmed, m.end = nil, hold, sent, nil
	}
	return err
}

// wait waits until another try is worth its cost, and first of all for a call that hangs.
func (m *member) wait(ctx context.Context) error {
	return m.call(ctx, func(ctx context.Context) error {
		if m.attempt == nil {
			return nil
		}
		return m.attempt.Wait(ctx)
	}, nil)
}

// withdraw removes every trace of a refused attempt.
func (m *member) withdraw(ctx context.Context) error {
	m.abandoned.Store(true)
	err := m.call(ctx, func(ctx context.Context) error {
		if m.attempt == nil {
			return nil
		}
		return m.attempt.Withdraw(ctx)
	}, nil)
	if errors.Is(err, backend.ErrNoAnswer) {
		return fmt.Errorf("%s: withdraw: %w", m.Address, err)
	}
	m.attempt = nil
	m.abandoned.Store(false)
	return err
}

// heartbeat makes sure that the member is still held.
func (m *member) heartbeat(ctx context.Context) error {
	sent := m.clock.Now()
	err := m.call(ctx, m.hold.Heartbeat, nil)
	if err == nil {
		m.confirmed = sent
	}
	m.noteLoss(err)
	return err
}

// noteLoss remembers the hold if err says that it is gone.
func (m *member) noteLoss(err error) {
	if errors.Is(err, backend.ErrGone) {
		m.lost = m.hold
	}
}

// release gives the member back. If it is called again on a lock that is gone, the answer stays
// the same.
func (m *member) release(ctx context.Context) error {
	if m.hold == nil {
		return m.end
	}
	err := m.call(ctx, m.hold.Release, nil)
	m.noteLoss(err)
	if err == nil || errors.Is(err, backend.ErrGone) || errors.Is(err, backend.ErrStays) {
		m.hold, m.end = nil, err
	}
	return err
}

// parallel is how many members are asked at the same time.
const parallel = 16

// each makes a call for each element, parallel at a time, and returns the errors in the same
// order.
func each[T any](all []T, call func(T) error) []error {
	errs := make([]error, len(all))
	places := make(chan struct{}, parallel)
	var calls sync.WaitGroup
	for i, one := range all {
		places <- struct{}{}
		calls.Go(func() {
			errs[i] = call(one)
			<-places
		})
	}
	calls.Wait()
	return errs
}
