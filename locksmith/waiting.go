package locksmith

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
)

// acquire is the state waiting. before says whether the lock's place has answered before. acquire
// returns the hold and when the request that got it was sent.
func (h *Helper) acquire(start time.Duration, before bool) (hold backend.Hold, sent time.Duration, err error) {
	wish, cancel := h.wish()
	defer cancel()
	wanted, cancel := h.untilTimeout(wish)
	defer cancel()
	w := h.waiting(start)
	defer w.end()
	w.answered = before
	ctx, answered := w.untilAnswered(wanted)
	defer answered()
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
	for {
		sent = h.Request.Clock.Now()
		trying := ctx
		if h.Locks != nil { // a try may have taken some of the set when ctx ends, so each lock's calls have bounds of their own
			trying = wanted
		}
		hold, err = w.try(trying)
		taken = err == nil
		switch {
		case taken && wish.Err() != nil:
			h.giveBack(hold)
			return nil, 0, w.unwanted(wish, nil)
		case taken:
			return hold, sent, nil
		case w.calls.Hung(): // the call hung until there was no more time
		case w.waits(trying, err):
			if err := w.refusal(ctx); err != nil {
				return nil, 0, err
			}
			if w.tries == 1 {
				h.remember() // for we may be killed
			}
			if w.answered {
				answered()
				ctx = wanted
			}
			h.Client.Waiting(w.behind)
			err = w.restAsAsked(ctx)
		case trying.Err() == nil:
			return nil, 0, err
		}
		if err := w.over(wish, ctx, err); err != nil {
			return nil, 0, err
		}
	}
}

// refusal is the error of a helper that does not go on after a try like the last, or nil.
func (w *waiting) refusal(ctx context.Context) error {
	h := w.helper
	if h.Timeout == 0 && ctx.Err() == nil {
		return w.once()
	}
	if err := h.hopeless(w.behind); err != nil {
		return err
	}
	if w.tries == h.Tries {
		return w.gaveUp(w.tries)
	}
	return nil
}

// over is the error of a wait that has ended, by err or by one of its contexts; nil if it goes on.
func (w *waiting) over(wish, ctx context.Context, err error) error {
	switch {
	case wish.Err() != nil:
		return w.unwanted(wish, w.now())
	case ctx.Err() != nil:
		return w.gaveUp(0)
	}
	return err
}

// rememberTime is how long a waiter waits for what it saw of others to be stored. That only spares
// later tries time.
const rememberTime = time.Second

func (h *Helper) remember() {
	store := h.Remember
	if store == nil {
		return
	}
	err := bounded(h.Request.Clock, rememberTime, func(context.Context) error { store(); return nil })
	if err != nil {
		h.Remember = nil
		h.leaveBehind()
		h.Log.Debug("what was seen of others is not remembered", "lock", h.Address, "error", err)
	}
}

// untilTimeout returns a context that ends when the lock is not wanted any more or the timeout is
// over. A single try (timeout 0) gets one lease: a later answer would be of no use.
func (h *Helper) untilTimeout(wish context.Context) (context.Context, context.CancelFunc) {
	switch {
	case h.Timeout < 0:
		return context.WithCancel(wish)
	case h.Timeout == 0:
		return clock.WithTimeout(wish, h.Request.Clock, h.Request.Owner.Lease)
	}
	return clock.WithTimeout(wish, h.Request.Clock, h.Timeout)
}

// untilAnswered returns a context that ends with ctx. If the helper would wait forever, it also
// ends when the lock's place has not answered for a lease. So a job whose server is dead ends,
// and somebody hears of it. The caller calls the returned function once the place has answered.
func (w *waiting) untilAnswered(ctx context.Context) (context.Context, context.CancelFunc) {
	h := w.helper
	if h.Timeout >= 0 || w.answered {
		return ctx, func() {}
	}
	return clock.WithTimeout(ctx, h.Request.Clock, h.Request.Owner.Lease)
}

// request is the request to the backend. It says how much time there is, and how often we
// refresh, for others to know.
func (w *waiting) request() backend.Request {
	h := w.helper
	r := h.Request
	r.Broke = w.broken.add
	r.Beside = func(lock, what string) { h.Log.Warn("somebody has another lock there", "lock", lock, "other", what) }
	r.Owner.Refresh = h.Refresh
	if r.Timeout = h.Timeout; h.Timeout < 0 {
		r.Timeout = backend.NoLimit
	}
	return r
}

// hopeless is the refusal to wait for a holder that nobody should wait for, or nil. If any of several
// locks would do, nobody should wait for any of their holders: another may become free.
func (h *Helper) hopeless(held *backend.HeldError) error {
	if h.Hopeless == nil || h.Timeout >= 0 || h.Tries > 0 {
		return nil
	}
	why := h.Hopeless(held.Holder)
	mayEnd := func(o *backend.HeldError) bool { return o.Obstacle != nil || h.Hopeless(o.Holder) == "" }
	if why == "" || slices.ContainsFunc(held.Others, mayEnd) {
		return nil
	}
	refused := *held
	refused.Holder.Advice = why
	return &refused
}

// aged is a holder that was seen some time ago, with its age as of now. Its heartbeats since then
// are not known.
func aged(held *backend.HeldError, ago time.Duration) *backend.HeldError {
	if held == nil {
		return nil
	}
	old := *held
	if old.Holder.Age > 0 { // 0: it is not known
		old.Holder.Age += ago
	}
	old.Holder.Heartbeat = 0
	return &old
}

func (h *Helper) cancelled(held *backend.HeldError) error {
	return &CancelledError{Lock: h.Address, Cause: context.Cause(h.Client.Context()), Held: held}
}

// unwanted is the error of a wait that its client has ended. One that said END is told of the holder, as
// after a single try.
func (w *waiting) unwanted(wish context.Context, held *backend.HeldError) error {
	switch {
	case !errors.Is(context.Cause(wish), errEnd):
		return w.helper.cancelled(held)
	case w.behind != nil && w.behind.Answered():
		return w.behind
	}
	return &CancelledError{Lock: w.helper.Address, Cause: errEnd}
}

// withdrawTime bounds how long a waiter tidies up after itself.
const withdrawTime = 3 * time.Second

// waiting makes the calls of one attempt. A system call on a dead server may hang for good and
// heed no context. Such a call is left behind when the time is over, and tidies up after itself
// if it ever returns.
//
// This type decides, for every kind of lock, how long it bears errors that pass (backend.Passes):
//
//	timeout  the place has      then we go on
//	D        answered, or not   until D is over
//	none     answered           until the lock is not wanted any more
//	none     not answered       for a lease (untilAnswered)
//	0        answered, or not   not at all: there is one try, of a lease at most
//
// An answer says who holds the lock, or that others were faster. A waiter that gives up without
// any answer reports that the place cannot be reached, not that the lock is held.
type waiting struct {
	helper  *Helper
	start   time.Duration
	attempt backend.Attempt
	todo    chan func()
	calls   detached.Line     // once a call was left behind, no other is made
	pauses  *backoff.Schedule // between tries, if the number of tries is limited; else nil
	trouble backoff.Growth    // the pauses between tries without an answer
	broken  brokenLocks       // by the last try

	tries    int
	behind   *backend.HeldError // why the last try was refused or had no answer; nil: there was none
	seen     time.Duration      // when that try ended
	answered bool               // this wait or an earlier one had an answer

	asked  int            // how often the client was
	left   bool           // it left the waiting to us
	leftTo backend.Holder // until another holder than this is seen
	// or until that time; 0: no time
	leftUntil time.Duration
}

// The pauses between tries without an answer. The first is short, because a store that turns some
// requests away may answer the next. The longest is a part of the lease, because nothing keeps a
// place in a queue during a pause.
const firstTrouble, mostTrouble, troublePart = 250 * time.Millisecond, 10 * time.Second, 8

// waiting starts the goroutine that makes all calls of the attempt. A new goroutine for each call
// would begin with a small stack, and grow it while the lock is free.
func (h *Helper) waiting(start time.Duration) *waiting {
	w := &waiting{helper: h, start: start, todo: make(chan func()),
		trouble: backoff.Growth{First: firstTrouble, Most: min(mostTrouble, h.Request.Owner.Lease/troublePart)}}
	if h.Tries > 0 {
		if w.pauses = h.Request.Polls.Schedule(); w.pauses == nil {
			w.pauses = &backoff.Schedule{}
		}
	}
	go func() {
		for call := range w.todo {
			call()
		}
	}()
	w.calls = detached.Line{Clock: h.Request.Clock, Run: func(call func()) { w.todo <- call }}
	return w
}

// end ends the goroutine, at once or when a call that hangs returns.
func (w *waiting) end() { close(w.todo) }

// call makes a call, and waits until ctx ends and a little longer.
func (w *waiting) call(ctx context.Context, f func(context.Context) error, late func(error)) (back bool, err error) {
	back, err = w.calls.Call(ctx, detached.Bounds{Limit: backend.NoLimit, Grace: answerTime}, f, late)
	if !back {
		w.helper.leaveBehind()
	}
	return back, err
}

func (w *waiting) try(ctx context.Context) (backend.Hold, error) {
	w.tries++
	var hold backend.Hold // a call that is left behind may write this later
	back, err := w.call(ctx, func(ctx context.Context) (err error) {
		hold, err = w.attempt.Try(ctx)
		return err
	}, func(err error) {
		if err == nil {
			w.helper.giveBack(hold)
		} else {
			w.tidy()
		}
	})
	if !back {
		return nil, err
	}
	w.tellBroken()
	return hold, err
}

// waits reports whether a try ended in a way that one may wait after, and notes how it ended.
func (w *waiting) waits(ctx context.Context, err error) bool {
	held, refused := errors.AsType[*backend.HeldError](err)
	switch {
	case refused && held.Answered():
		w.answered = true
		w.trouble.Reset()
	case ctx.Err() != nil && w.behind != nil: // the try was cut off, which tells less than the one before
		return true
	case refused:
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // it was cut off, and its text says no more
		return false
	case backend.Passes(err):
		held = &backend.HeldError{Lock: w.helper.Address, Obstacle: err}
		if last := w.now(); last != nil {
			held.Lock, held.Holder = last.Lock, last.Holder
		}
	default:
		return false
	}
	w.behind, w.seen = held, w.helper.Request.Clock.Now()
	return true
}

// now is behind, with the holder's age as of now.
func (w *waiting) now() *backend.HeldError {
	return aged(w.behind, w.helper.Request.Clock.Now()-w.seen)
}

// once is the error of a helper that tries only once.
func (w *waiting) once() error {
	if !w.behind.Answered() {
		return w.behind.Obstacle // such a helper does not wait until the obstacle has passed
	}
	return w.behind
}

// gaveUp is the error of a helper that stops waiting. tries is how many tries were allowed, if it
// has used up all; else 0.
func (w *waiting) gaveUp(tries int) error {
	e := &TimeoutError{Lock: w.helper.Address, Waited: w.helper.Request.Clock.Now() - w.start, Tries: tries}
	switch {
	case w.answered:
		e.Held = w.now()
	case w.behind != nil:
		e.Unanswered = w.behind.Obstacle
	}
	return e
}

// rest waits until another try is worth its cost. If the number of tries is limited, rest ends
// after a pause at the latest: while the holder stays, nothing else would end it. It also ends when
// the client is to be asked again. After a try without an answer, rest lasts for a pause at least.
func (w *waiting) rest(ctx context.Context) error {
	c := w.helper.Request.Clock
	until := c.Now()
	if !w.behind.Answered() {
		until += w.trouble.Next()
	}
	most := time.Duration(math.MaxInt64)
	if w.pauses != nil {
		most = w.pauses.Next()
	}
	if w.leftUntil > 0 {
		most = min(most, max(0, w.leftUntil-c.Now()))
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if most < math.MaxInt64 {
		limited, cancel = clock.WithTimeout(ctx, c, most)
	}
	defer cancel()
	return w.waitUntil(ctx, limited, until)
}

// waitUntil waits until another try is worth its cost, or limited ends. It returns no earlier than
// at the time until, unless an error does not pass or ctx ends.
func (w *waiting) waitUntil(ctx, limited context.Context, until time.Duration) error {
	err := w.wait(ctx, limited)
	if w.calls.Hung() || err != nil && limited.Err() == nil && !backend.Passes(err) {
		return err
	}
	c := w.helper.Request.Clock
	clock.Sleep(ctx, c, until-c.Now())
	return ctx.Err()
}

// wait waits until limited ends. A call that does not heed limited gets until ctx ends, because
// no other call may be made beside it.
func (w *waiting) wait(ctx, limited context.Context) error {
	_, err := w.call(ctx, func(context.Context) error { return w.attempt.Wait(limited) }, func(error) { w.tidy() })
	return err
}

// withdraw removes every trace of the attempt, if it can.
func (w *waiting) withdraw() {
	if w.calls.Hung() {
		w.helper.Log.Warn("the lock's place does not answer, so a trace of waiting may stay there", "lock", w.helper.Address)
		return
	}
	w.tidy()
}

func (w *waiting) tidy() {
	h := w.helper
	err := bounded(h.Request.Clock, withdrawTime, w.attempt.Withdraw)
	if err != nil {
		h.leaveBehind()
		h.Log.Warn("could not remove every trace of waiting", "lock", h.Address, "error", err)
	}
}

// giveBack releases a lock that came too late, or what is left of it.
func (h *Helper) giveBack(hold backend.Hold) {
	err := bounded(h.Request.Clock, withdrawTime, hold.Release)
	if err != nil {
		h.leaveBehind()
		h.Log.Error("could not remove what is left of the lock", "lock", h.Address, "error", err)
	}
}
