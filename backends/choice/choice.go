// Package choice takes one of several locks, of any kinds: whichever is free first.
//
// It waits for all of them at once, and tries those that may be free one after the other. If the
// place of a lock does not answer, the lock is left out, for a second at first and for half a minute
// in the end, and then tried again. A lock that can never be had stays out.
package choice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/member"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A Choice is a backend.Locker that takes whichever of its locks is free first. It waits for all of
// them at once and tries one after the other, so it never holds two.
type Choice struct{ locks []member.Lock }

// New returns the choice of these locks. Its error is a *backend.Error.
func New(locks []member.Lock) (*Choice, error) {
	if err := member.Check(locks); err != nil {
		return nil, err
	}
	return &Choice{locks}, nil
}

// Attempt implements backend.Locker.
func (l *Choice) Attempt(r backend.Request) (backend.Attempt, error) {
	r.Several = true
	a := &attempt{request: r, clock: r.Clock, woken: make(chan *candidate, len(l.locks))}
	for i, lock := range l.locks {
		c := &candidate{Member: member.New(lock, r.Clock), index: i, ready: true}
		if err := c.Begin(r); err != nil { // a mistake in an address, whichever lock is free
			return nil, err
		}
		a.candidates = append(a.candidates, c)
	}
	a.order = spread(owner.NewID(), a.candidates)
	a.waits, a.stop = context.WithCancel(context.Background())
	return a, nil
}

// A candidate is one of the locks. One goroutine at a time uses its Member: the goroutine that
// waits for the lock, while there is one.
type candidate struct {
	*member.Member
	index   int
	ready   bool              // it is worth a try
	waiting *detached.ErrCall // the waiting for it; nil: there is none
	held    *backend.HeldError
	failed  error         // why it is left out; it is tried again if that may pass
	pause   time.Duration // the last time for which it was left out
}

const (
	// If a candidate's place does not answer, the candidate is left out for a pause. The first is
	// firstPause, and it grows to longestPause.
	firstPause, longestPause = time.Second, 30 * time.Second
)

// mayPass reports whether the candidate's place may answer later, or whether we may have a
// descriptor for it later.
func (c *candidate) mayPass() bool {
	return backend.Passes(c.failed) || backend.IsErrno(c.failed, syscall.EMFILE, syscall.ENFILE)
}

// comeBack leaves the candidate out for a pause, which grows each time. Then it ends the
// candidate's attempt, which may have stopped halfway. Until that succeeds the candidate stays
// out.
func (c *candidate) comeBack(ctx context.Context, limit time.Duration) error {
	c.pause = min(max(2*c.pause, firstPause), longestPause)
	clock.Sleep(ctx, c.Clock, c.pause+rand.N(c.pause/2))
	if err := ctx.Err(); err != nil {
		return err
	}
	short, cancel := clock.WithTimeout(ctx, c.Clock, limit)
	defer cancel()
	err := c.End(short)
	if err != nil && short.Err() != nil && backend.CodeOf(err) != protocol.Unreachable {
		return fmt.Errorf("%w: %v", backend.ErrNoAnswer, err) // the call was cut off, so the code of its error tells nothing
	}
	return err
}

type attempt struct {
	request    backend.Request
	clock      clock.Clock
	candidates []*candidate    // in the order given
	order      []*candidate    // in the order of trying
	woken      chan *candidate // candidates whose waiting is over
	waits      context.Context // the context of all waiting
	stop       context.CancelFunc
}

// spread is the order in which the process with this id tries the candidates. It sorts by a hash,
// so that processes that come at the same time begin with different locks.
func spread(id string, candidates []*candidate) []*candidate {
	place := func(c *candidate) uint64 {
		h := fnv.New64a()
		_, _ = io.WriteString(h, c.Address+" "+id) // a hash takes everything
		return h.Sum64()
	}
	return slices.SortedFunc(slices.Values(candidates), func(x, y *candidate) int { return cmp.Compare(place(x), place(y)) })
}

// Try implements backend.Attempt. It tries the candidates that are worth a try.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	for _, c := range a.order {
		if !c.ready {
			continue
		}
		err := a.try(ctx, c)
		var held *backend.HeldError
		switch {
		case err == nil:
			a.leave(ctx, c)
			return &chosen{c.Hold, c, c.Confirmed}, nil
		case ctx.Err() != nil:
			return nil, err
		case errors.As(err, &held):
			c.held, c.pause = held, 0
		default:
			c.failed = err
		}
		c.ready = false
	}
	return nil, a.refusal()
}

// try tries one candidate for a limited time, so that a hanging one does not keep us from the
// others.
func (a *attempt) try(ctx context.Context, c *candidate) error {
	short, cancel := clock.WithTimeout(ctx, a.clock, a.request.Owner.Lease/4)
	defer cancel()
	err := c.Try(short, a.request)
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		return &backend.HeldError{Lock: c.Address, Obstacle: fmt.Errorf("%w: %w", backend.ErrNoAnswer, err)}
	}
	return err
}

// refusal is the error when no lock could be had. It names the first candidate that is held, so
// that the name does not change without need. If all have failed, it is the error of the first
// that may come back, or else of the first.
func (a *attempt) refusal() error {
	var held, away []*backend.HeldError
	for _, c := range a.candidates {
		switch {
		case c.failed == nil:
			held = append(held, c.held)
		case c.mayPass():
			away = append(away, &backend.HeldError{Lock: c.Address, Obstacle: c.failed})
		}
	}
	if len(held) == 0 {
		return a.candidates[max(slices.IndexFunc(a.candidates, (*candidate).mayPass), 0)].failed
	}
	i := max(slices.IndexFunc(held, (*backend.HeldError).Answered), 0) // one that is held tells more than one that is silent
	first := *held[i]
	first.Others = slices.Concat(held[:i], held[i+1:], away)
	return &first
}

// Wait implements backend.Attempt. It returns when a candidate is worth a try. The waiting for
// the others goes on, because a watch of a silent holder must not begin anew each time.
func (a *attempt) Wait(ctx context.Context) error {
	for _, c := range a.candidates {
		switch {
		case c.ready, c.waiting != nil:
		case c.failed == nil:
			a.begin(c, func() error { return c.Wait(a.waits) })
		case c.mayPass():
			a.begin(c, func() error { return c.comeBack(a.waits, a.request.Owner.Lease/4) })
		}
	}
	select {
	case c := <-a.woken:
		a.wake(c)
	case <-ctx.Done():
		return ctx.Err()
	}
	for { // and all others whose waiting is over
		select {
		case c := <-a.woken:
			a.wake(c)
		default:
			return ctx.Err()
		}
	}
}

// begin begins to wait for a candidate.
func (a *attempt) begin(c *candidate, wait func() error) {
	c.waiting = detached.GoErr(func() error {
		defer func() { a.woken <- c }()
		return wait()
	})
}

func (a *attempt) wake(c *candidate) {
	_, err := c.waiting.Result()
	c.waiting, c.ready, c.failed = nil, err == nil, err
}

// leave gives up all candidates except but, which may be nil. A call that hangs is left behind,
// and tidied up if it comes back.
func (a *attempt) leave(ctx context.Context, but *candidate) error {
	a.stop()
	short, cancel := clock.WithTimeout(context.WithoutCancel(ctx), a.clock, a.request.Owner.Lease/8)
	defer cancel()
	return errors.Join(member.Each(a.candidates, func(c *candidate) error {
		if c == but {
			return nil
		}
		left := detached.GoErr(func() error {
			if c.waiting != nil {
				<-c.waiting.Done()
			}
			if short.Err() != nil { // too late for our caller, but not too late to withdraw
				return c.End(context.Background())
			}
			return c.End(short)
		})
		if !left.Await(short, a.clock, backend.NoLimit, member.AnswerTime) {
			return backend.ErrNoAnswer
		}
		_, err := left.Result()
		return err
	})...)
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error { return a.leave(ctx, nil) }

// chosen is the hold of the one lock that was taken.
type chosen struct {
	backend.Hold
	of        *candidate
	confirmed time.Duration
}

var _ backend.SeveralHold = (*chosen)(nil)

// Tokens implements backend.SeveralHold.
func (h *chosen) Tokens() []uint64 { return nil }

// Chosen implements backend.SeveralHold.
func (h *chosen) Chosen() int { return h.of.index }

// Holds implements backend.SeveralHold.
func (h *chosen) Holds() []backend.Hold { return []backend.Hold{h.Hold} }

// Note implements backend.SeveralHold.
func (h *chosen) Note(ctx context.Context) (*owner.Note, error) { return h.of.NoteOf(ctx, h.Hold) }

// Confirmed implements backend.SeveralHold.
func (h *chosen) Confirmed() time.Duration { return h.confirmed }
