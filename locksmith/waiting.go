package locksmith

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/clock"
)

// acquire is the state waiting. It returns the hold and when the request that
// got it was sent.
func (h *Helper) acquire(start time.Duration) (hold backend.Hold, sent time.Duration, err error) {
	ctx, cancel := h.untilTimeout()
	defer cancel()
	w := h.waiting()
	defer w.end()
	if w.attempt, err = h.Locker.Attempt(w.request()); err != nil {
		return nil, 0, err
	}
	taken := false
	defer func() {
		if !taken {
			w.withdraw()
			h.remember()
		}
	}()
	var held *backend.HeldError
	var seen time.Duration // held
	for tries := 1; ; tries++ {
		sent = h.Request.Clock.Now()
		hold, err = w.try(ctx)
		taken = err == nil
		switch {
		case taken && h.Client.Context().Err() != nil:
			h.giveBack(hold)
			return nil, 0, h.cancelled(nil)
		case taken:
			return hold, sent, nil
		case errors.As(err, &held):
			if h.Timeout == 0 && ctx.Err() == nil {
				return nil, 0, err
			}
			if err := h.hopeless(held); err != nil {
				return nil, 0, err
			}
			if tries == h.Tries {
				return nil, 0, &TimeoutError{Lock: h.Address, Held: held, Waited: h.Request.Clock.Now() - start, Tries: tries}
			}
			if seen = h.Request.Clock.Now(); tries == 1 {
				h.remember() // we may be killed
			}
			h.Client.Waiting(held)
			err = w.rest(ctx)
		case ctx.Err() == nil:
			return nil, 0, err
		}
		switch {
		case h.Client.Context().Err() != nil:
			return nil, 0, h.cancelled(aged(held, h.Request.Clock.Now()-seen))
		case ctx.Err() != nil:
			now := h.Request.Clock.Now()
			return nil, 0, &TimeoutError{Lock: h.Address, Held: aged(held, now-seen), Waited: now - start}
		case err != nil:
			return nil, 0, err
		}
	}
}

func (h *Helper) remember() {
	if h.Remember != nil {
		h.Remember()
	}
}

// untilTimeout returns a context that ends when the lock is not wanted any more or
// the timeout is over. A single try (timeout 0) has a lease's time: an answer that comes
// later would be of no use.
func (h *Helper) untilTimeout() (context.Context, context.CancelFunc) {
	switch {
	case h.Timeout < 0:
		return context.WithCancel(h.Client.Context())
	case h.Timeout == 0:
		return clock.WithTimeout(h.Client.Context(), h.Request.Clock, h.Request.Owner.Lease)
	}
	return clock.WithTimeout(h.Client.Context(), h.Request.Clock, h.Timeout)
}

// request tells the backend how much time it has, and others our pace.
func (w *waiting) request() backend.Request {
	h := w.helper
	r := h.Request
	r.Broke = w.broken.add
	r.Owner.Refresh = h.Refresh
	if r.Timeout = h.Timeout; h.Timeout < 0 {
		r.Timeout = backend.NoLimit
	}
	return r
}

// hopeless is the refusal by a holder that nobody should wait for, or nil. Of several locks
// another may become free.
func (h *Helper) hopeless(held *backend.HeldError) error {
	if h.Hopeless == nil || h.Timeout >= 0 || h.Tries > 0 || held.Others > 0 {
		return nil
	}
	why := h.Hopeless(held.Holder)
	if why == "" {
		return nil
	}
	refused := *held
	refused.Holder.Advice = why
	return &refused
}

// aged is the holder as it was seen some time ago, with its age as of now; nothing is
// known of its heartbeats since then.
func aged(held *backend.HeldError, ago time.Duration) *backend.HeldError {
	if held == nil {
		return nil
	}
	old := *held
	if old.Holder.Age > 0 { // else it is not known
		old.Holder.Age += ago
	}
	old.Holder.Heartbeat = 0
	return &old
}

func (h *Helper) cancelled(held *backend.HeldError) error {
	return &CancelledError{Lock: h.Address, Cause: context.Cause(h.Client.Context()), Held: held}
}

// withdrawTime bounds how long a waiter tidies up after itself.
const withdrawTime = 3 * time.Second

// waiting makes the calls of one attempt. A system call on a dead server may
// hang for good and heeds no context: such a call is left behind, and tidies up
// after itself should it ever return.
type waiting struct {
	helper  *Helper
	attempt backend.Attempt
	calls   chan func()
	pauses  *backoff.Schedule // between tries, if their number is limited; else nil
	hung    bool              // a call was left behind; no other may be made
	broken  brokenLocks       // by the last try
}

// waiting starts the goroutine that makes the calls. It is the same for all of them: a
// new one would begin with a small stack each time, and grow it while the lock is free.
func (h *Helper) waiting() *waiting {
	w := &waiting{helper: h, calls: make(chan func())}
	if h.Tries > 0 {
		if w.pauses = h.Request.Polls.Schedule(); w.pauses == nil {
			w.pauses = &backoff.Schedule{}
		}
	}
	go func() {
		for call := range w.calls {
			call()
		}
	}()
	return w
}

// end ends that goroutine, at once or when a call that hangs returns.
func (w *waiting) end() { close(w.calls) }

// run hands a call to that goroutine.
func (w *waiting) run(call func()) { w.calls <- call }

func (w *waiting) try(ctx context.Context) (backend.Hold, error) {
	call := backend.DetachIn(w.run, func() (backend.Hold, error) { return w.attempt.Try(ctx) })
	if call.Await(ctx, w.helper.Request.Clock, backend.NoLimit, answerTime) {
		w.tellBroken()
		return call.Result()
	}
	w.hung = true
	go func() {
		if hold, err := call.Result(); err == nil {
			w.helper.giveBack(hold)
		} else {
			w.tidy()
		}
	}()
	return nil, backend.ErrNoAnswer
}

// rest waits until another try is worth its cost. If the number of tries is limited, it
// waits for a pause at most: while the holder stays, nothing else would end the wait.
func (w *waiting) rest(ctx context.Context) error {
	if w.pauses == nil {
		return w.wait(ctx)
	}
	pause, cancel := clock.WithTimeout(ctx, w.helper.Request.Clock, w.pauses.Next())
	defer cancel()
	err := w.wait(pause)
	if pause.Err() != nil && ctx.Err() == nil && !w.hung {
		return nil
	}
	return err
}

func (w *waiting) wait(ctx context.Context) error {
	call := backend.DetachIn(w.run, func() (struct{}, error) { return struct{}{}, w.attempt.Wait(ctx) })
	if call.Await(ctx, w.helper.Request.Clock, backend.NoLimit, answerTime) {
		_, err := call.Result()
		return err
	}
	w.hung = true
	go func() {
		<-call.Done()
		w.tidy()
	}()
	return backend.ErrNoAnswer
}

// withdraw removes every trace of the attempt, if it can.
func (w *waiting) withdraw() {
	if w.hung {
		w.helper.Log.Warn("the lock's place does not answer, so a trace of waiting may stay there", "lock", w.helper.Address)
		return
	}
	w.tidy()
}

func (w *waiting) tidy() {
	h := w.helper
	err := bounded(h.Request.Clock, withdrawTime, w.attempt.Withdraw)
	if err != nil {
		h.Log.Warn("could not remove every trace of waiting", "lock", h.Address, "error", err)
	}
}

// giveBack releases a lock that came too late, or what is left of one.
func (h *Helper) giveBack(hold backend.Hold) {
	err := bounded(h.Request.Clock, withdrawTime, hold.Release)
	if err != nil {
		h.Log.Error("could not remove what is left of the lock", "lock", h.Address, "error", err)
	}
}
