// Package lifecycle goes through the life of a lock while something goes wrong on the way to the
// server.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// A Life is the life of one lock, as a helper lives it: acquire, two heartbeats, release.
// Meanwhile a rival tries to get in.
type Life struct {
	Open   func() backend.Backend
	Rival  backend.Backend // reaches the lock in a way of its own; nil: there is no rival
	Silent <-chan struct{} // receives something when the server falls silent; nil: it never does
	// Orphan, if not nil, reports whether all that is left of the lock is something that only age
	// frees.
	Orphan func() bool

	hold backend.Hold
}

// maxTries ends tries that are refused again and again. orphanTries ends them earlier at a lock
// that nobody may clear up.
const maxTries, orphanTries = 100, 3

// A trial counts tries.
type trial struct{ all, orphan int }

// enough reports whether further tries are of no use.
func (t *trial) enough(r *Life) bool {
	if t.all++; r.orphan() {
		t.orphan++
	}
	return t.all >= maxTries || t.orphan >= orphanTries
}

func (r *Life) orphan() bool { return r.Orphan != nil && r.Orphan() }

// call makes a call of a hold. It breaks the call off when the server falls silent. A helper
// would wait some seconds; here nobody waits.
func (r *Life) call(call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-r.Silent:
			cancel()
		case <-over:
		}
	}()
	return call(ctx)
}

// acquire tries until it has the lock. Its error is the last one that says more than that a try
// was broken off.
func (r *Life) acquire() error {
	a, err := r.Open().Attempt(r.request())
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
		if err == nil || !brokenOff && !isHeld || tries.enough(r) {
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

// request is for a lock whose lease nobody here waits for. Our parent is this process.
func (r *Life) request() backend.Request {
	q := backendtest.Request()
	q.Owner.Lease = owner.MinLease * 600
	return q
}

// insist makes a call until it succeeds, or until the lock is gone.
func (r *Life) insist(call func(context.Context) error) error {
	for tries := (trial{}); ; time.Sleep(time.Millisecond) {
		err := r.call(call)
		if err == nil || errors.Is(err, backend.ErrGone) || tries.enough(r) {
			return err
		}
	}
}

// mustExclude checks that the rival cannot get in.
func (r *Life) mustExclude() error {
	if r.Rival == nil {
		return nil
	}
	a, err := r.Rival.Attempt(r.request())
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

// Whole goes through the whole life. acquired is the error of acquire.
func (r *Life) Whole() (acquired, broken error) {
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
	// The lock may be an orphan now.
	if err := r.insist(r.hold.Release); err != nil && !r.orphan() {
		return nil, fmt.Errorf("release: %w", err)
	}
	return nil, nil
}

// IsClear reports whether an error names the server, or somebody else's lock, as the reason.
func IsClear(err error) bool {
	var held *backend.HeldError
	return errors.As(err, &held) || backend.CodeOf(err) == protocol.Unreachable
}
