package ftplab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/owner"
)

const (
	// answer is how long the server may take for what is one call of a hold.
	answer = 400 * time.Millisecond
	// lifecycleLimit is how long it may take to acquire or release in trouble.
	lifecycleLimit = 20 * time.Second
	// heldLimit is how long an orphan is waited for.
	heldLimit = time.Second
)

// A lifecycle is that of one lock: acquire, two heartbeats, release, as a helper
// does it. Meanwhile a rival tries to get in by a way of its own.
type lifecycle struct {
	place *place
	rival backend.Backend // nil: none
	hold  backend.Hold
}

// acquire tries until it has the lock, for lifecycleLimit at most. An error is the last one
// that says more than that a try took too long.
func (r *lifecycle) acquire() error {
	a, err := r.place.open().Attempt(r.request())
	if err != nil {
		return err
	}
	var held *backend.HeldError
	late := false
	for begin := time.Now(); ; {
		err = within(answer, func(ctx context.Context) error {
			var err error
			r.hold, err = a.Try(ctx)
			return err
		})
		isHeld := errors.As(err, &held)
		late = errors.Is(err, context.DeadlineExceeded)
		if err == nil || !late && !isHeld || r.enough(begin) {
			break
		}
		_ = within(answer, a.Wait) // the next Try tells
	}
	if late && held != nil {
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

// beat makes a heartbeat, again if its answer was lost.
func (r *lifecycle) beat() error { return r.insist(r.hold.Heartbeat) }

func (r *lifecycle) release() error { return r.insist(r.hold.Release) }

// insist makes a call until it succeeds, for lifecycleLimit at most, but not after the
// lock is gone.
func (r *lifecycle) insist(call func(context.Context) error) error {
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		err := within(answer, call)
		if err == nil || errors.Is(err, backend.ErrGone) || r.enough(begin) {
			return err
		}
	}
}

// enough reports that there is no use in trying on.
func (r *lifecycle) enough(since time.Time) bool {
	took := time.Since(since)
	return took > lifecycleLimit || took > heldLimit && r.place.isOrphan()
}

func within(d time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return call(ctx)
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
	ctx, cancel := context.WithTimeout(context.Background(), lifecycleLimit)
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
		if err := r.beat(); err != nil {
			return nil, fmt.Errorf("heartbeat: %w", err)
		}
	}
	if err := r.mustExclude(); err != nil {
		return nil, err
	}
	return nil, r.released(r.release())
}

// released judges an error of Release. That the lock may be an orphan now is one
// that is allowed.
func (r *lifecycle) released(err error) error {
	if err == nil || r.place.isOrphan() {
		return nil
	}
	return fmt.Errorf("release: %w", err)
}

// isOrphan reports that there is nothing but an empty lock of plain style: what
// is left when an answer was lost in the one moment where that cannot be told.
func (p *place) isOrphan() bool {
	left := p.leftovers()
	return p.style == "plain" && len(left) == 1 && left[0] == "L"
}
