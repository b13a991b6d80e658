package ftplab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/owner"
	"locksmith/test/lab"
)

// A lifecycle is that of one lock: acquire, two heartbeats, release, as a helper
// does it. Meanwhile a rival tries to get in by a way of its own.
type lifecycle struct {
	place  *place
	rival  backend.Backend // nil: none
	silent chan struct{}   // has something when the server falls silent
	hold   backend.Hold
}

// maxTries is for what goes on being refused; orphanTries is when there is no use in trying on
// at a lock that nobody may clear up.
const maxTries, orphanTries = 100, 3

// A trial counts tries.
type trial struct{ all, orphan int }

// enough reports that there is no use in trying on.
func (t *trial) enough(p *place) bool {
	if t.all++; p.isOrphan() {
		t.orphan++
	}
	return t.all >= maxTries || t.orphan >= orphanTries
}

// call makes a call of a hold, which is broken off when the server falls silent: a helper
// waits some seconds then, here nobody does.
func (r *lifecycle) call(call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-r.silent:
			cancel()
		case <-over:
		}
	}()
	return call(ctx)
}

// acquire tries until it has the lock. An error is the last one that says more than that a
// try was broken off.
func (r *lifecycle) acquire() error {
	a, err := r.place.open().Attempt(r.request())
	if err != nil {
		return err
	}
	var held *backend.HeldError
	var tries trial
	brokenOff := false
	for {
		err = r.call(func(ctx context.Context) error {
			var err error
			r.hold, err = a.Try(ctx)
			return err
		})
		isHeld := errors.As(err, &held)
		brokenOff = errors.Is(err, context.Canceled)
		if err == nil || !brokenOff && !isHeld || tries.enough(r.place) {
			break
		}
		_ = r.call(a.Wait) // the next Try tells
	}
	if brokenOff && held != nil {
		err = held
	}
	if err != nil {
		return errors.Join(err, r.insist(a.Withdraw))
	}
	return nil
}

// request is for a lock with a lease that nothing here is waiting for. Our parent
// is this process.
func (r *lifecycle) request() backend.Request {
	q := backendtest.Request()
	q.Owner.Lease = owner.MinLease * 600
	return q
}

// insist makes a call until it succeeds, but not after the lock is gone.
func (r *lifecycle) insist(call func(context.Context) error) error {
	for tries := (trial{}); ; time.Sleep(time.Millisecond) {
		err := r.call(call)
		if err == nil || errors.Is(err, backend.ErrGone) || tries.enough(r.place) {
			return err
		}
	}
}

// mustExclude makes sure that the rival cannot get in.
func (r *lifecycle) mustExclude() error {
	if r.rival == nil {
		return nil
	}
	a, err := r.rival.Attempt(r.request())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	h, err := a.Try(ctx)
	var held *backend.HeldError
	switch {
	case err == nil:
		return fmt.Errorf("two holders: %s and %s", r.hold.ID(), h.ID())
	case !errors.As(err, &held):
		return err
	case held.Obstacle == nil && (held.Holder.Record == nil || held.Holder.Record.ID != r.hold.ID()):
		return fmt.Errorf("the rival sees another holder: %w", err)
	}
	return a.Withdraw(ctx)
}

// whole goes through all of it. What acquire said goes to the first result.
func (r *lifecycle) whole() (acquired, broken error) {
	if err := r.acquire(); err != nil {
		return err, nil
	}
	for range 2 {
		if err := r.mustExclude(); err != nil {
			return nil, err
		}
		if err := r.insist(r.hold.Heartbeat); err != nil {
			return nil, fmt.Errorf("heartbeat: %w", err)
		}
	}
	if err := r.mustExclude(); err != nil {
		return nil, err
	}
	// That the lock may be an orphan now is allowed.
	if err := r.insist(r.hold.Release); err != nil && !r.place.isOrphan() {
		return nil, fmt.Errorf("release: %w", err)
	}
	return nil, nil
}

// isOrphan reports that there is nothing but an empty lock of plain style: what
// is left when an answer was lost in the one moment where that cannot be told.
func (p *place) isOrphan() bool {
	left := p.leftovers()
	return p.style == "plain" && len(left) == 1 && left[0] == "L"
}
