package locksmith

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

// Forever is the timeout of a helper that waits until it is told to stop.
const Forever = time.Duration(-1)

// A Helper tends one lock. Its life has four states, each a function here or in
// tenure.go: waiting (acquire), holding (keep), releasing (release), lost.
type Helper struct {
	Address string // canonical
	Backend backend.Backend
	Request backend.Request
	Timeout time.Duration // for the lock to become free; 0: one try; Forever
	Guard   Guard
	Log     hclog.Logger
}

// Run goes through a whole life and returns how long the lock was held. A nil
// error means that it was held and released. Otherwise it is a *LossError if
// the lock was held, *CancelledError, *TimeoutError, *backend.HeldError or
// another error of the backend if it was not; then nothing is left of the wish.
func (h *Helper) Run() (time.Duration, error) {
	start := h.Request.Clock.Now()
	hold, sent, err := h.acquire(start)
	if err != nil {
		return 0, err
	}
	t := &tenure{helper: h, hold: hold, lease: h.Request.Owner.Lease, confirmed: sent}
	if err := t.renewIfLate(); err != nil {
		return 0, t.abandon(err)
	}
	acquired := h.Request.Clock.Now()
	err = h.Guard.Start(protocol.Grant{
		ID: hold.ID(), Token: hold.Token(), Mode: h.Request.Owner.Mode,
		Waited: acquired - start, Lease: t.lease, Lock: h.Address,
	})
	if err != nil {
		return 0, t.abandon(err)
	}
	h.Log.Debug("acquired", "lock", h.Address, "id", hold.ID())
	err = t.run()
	return h.Request.Clock.Now() - acquired, err
}

// acquire is the state waiting. It returns the hold and when the request that
// got it was sent.
func (h *Helper) acquire(start time.Duration) (hold backend.Hold, sent time.Duration, err error) {
	ctx, cancel := h.patience()
	defer cancel()
	a, err := h.Backend.Attempt(h.Request)
	if err != nil {
		return nil, 0, err
	}
	taken := false
	defer func() {
		if !taken {
			h.withdraw(a)
		}
	}()
	var held *backend.HeldError
	for {
		sent = h.Request.Clock.Now()
		hold, err = a.Try(ctx)
		taken = err == nil
		switch {
		case taken && h.Guard.Wanted().Err() != nil:
			h.giveBack(hold)
			return nil, 0, h.cancelled()
		case taken:
			return hold, sent, nil
		case errors.As(err, &held):
			if h.Timeout == 0 && ctx.Err() == nil {
				return nil, 0, err
			}
			h.Guard.Waiting(held)
			err = a.Wait(ctx)
		case ctx.Err() == nil:
			return nil, 0, err
		}
		switch {
		case h.Guard.Wanted().Err() != nil:
			return nil, 0, h.cancelled()
		case ctx.Err() != nil:
			return nil, 0, &TimeoutError{Lock: h.Address, Held: held, Waited: h.Request.Clock.Now() - start}
		case err != nil:
			return nil, 0, err
		}
	}
}

// patience returns a context that ends when the lock is not wanted any more or
// the timeout is over.
func (h *Helper) patience() (context.Context, context.CancelFunc) {
	if h.Timeout <= 0 {
		return context.WithCancel(h.Guard.Wanted())
	}
	return clock.WithTimeout(h.Guard.Wanted(), h.Request.Clock, h.Timeout)
}

func (h *Helper) cancelled() error {
	return &CancelledError{Lock: h.Address, Cause: context.Cause(h.Guard.Wanted())}
}

// withdrawTime bounds how long a waiter tidies up after itself.
const withdrawTime = 10 * time.Second

func (h *Helper) withdraw(a backend.Attempt) {
	err := bounded(h.Request.Clock, withdrawTime, context.Background(), a.Withdraw)
	if err != nil {
		h.Log.Warn("could not remove every trace of waiting", "lock", h.Address, "error", err)
	}
}

// giveBack releases a lock that came too late.
func (h *Helper) giveBack(hold backend.Hold) {
	err := bounded(h.Request.Clock, withdrawTime, context.Background(), hold.Release)
	if err != nil {
		h.Log.Error("could not release a lock that came too late", "lock", h.Address, "error", err)
	}
}
