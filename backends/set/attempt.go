package set

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/member"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// An attempt takes a whole set or nothing. After a refusal it gives back the locks that it has, or
// it holds on: then it keeps them while it waits for the refused lock.
type attempt struct {
	set     *Set
	request backend.Request
	clock   clock.Clock
	members []*member.Member // in the same order in all sets; nil: before arrange
	given   []*member.Member // in the caller's order, in which a lock may come twice
	// refused is the lock that the set waits for: the one that was refused last, or whose turn it was
	// when renewHeld gave all back (refuse).
	refused  *member.Member
	refusals int // how many counted (refuse) since the set last stopped holding on
	// holdsOn says that the set holds on. until is when it stops; 0: since it began to hold on, no
	// lock was refused while it had others.
	holdsOn bool
	until   time.Duration
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if err := a.arrange(); err != nil {
		return nil, err
	}
	a.finishGivingBack(ctx)
	for _, m := range a.order() {
		if m.Held() {
			continue
		}
		err := a.take(ctx, m)
		var held *backend.HeldError
		switch {
		case err == nil:
		case errors.As(err, &held) && ctx.Err() == nil:
			return nil, a.refuse(ctx, m, held)
		case backend.Passes(err) && ctx.Err() == nil:
			return nil, a.refuse(ctx, m, &backend.HeldError{Lock: m.Address, Obstacle: err})
		default:
			return nil, err
		}
	}
	// If the set held on, it may have taken its first locks long ago.
	if err := a.renewHeld(ctx); err != nil {
		return nil, err
	}
	return newHold(a.members, a.given), nil
}

// order is the order of trying. If the set backs off, the lock refused last comes first.
func (a *attempt) order() []*member.Member {
	if a.refused == nil || a.holdsOn {
		return a.members
	}
	order := append(make([]*member.Member, 0, len(a.members)), a.refused)
	for _, m := range a.members {
		if m != a.refused {
			order = append(order, m)
		}
	}
	return order
}

// take tries one lock, within a lease. If the set has locks already, take first keeps them alive,
// and then tries within a quarter of a lease.
func (a *attempt) take(ctx context.Context, m *member.Member) error {
	limit, during := a.request.Owner.Lease, "within a lease"
	if len(a.held()) > 0 {
		if err := a.renewHeld(ctx); err != nil {
			return err
		}
		limit, during = limit/4, "while others of the set are held"
	}
	short, cancel := clock.WithTimeout(ctx, a.clock, limit)
	defer cancel()
	err := m.Try(short, a.request)
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		return &backend.HeldError{Lock: m.Address, Obstacle: fmt.Errorf("%w %s: %w", backend.ErrNoAnswer, during, err)}
	}
	return err
}

// briefly limits a call to a quarter of a lease: during the call our locks keep others waiting.
func (a *attempt) briefly(ctx context.Context) (context.Context, context.CancelFunc) {
	return clock.WithTimeout(ctx, a.clock, a.request.Owner.Lease/4)
}

// due returns the time an eighth of a lease ago. A lock that was last confirmed before that time
// needs a heartbeat now.
func (a *attempt) due() time.Duration { return a.clock.Now() - a.request.Owner.Lease/8 }

// renewHeld keeps alive the locks that the set has so far. If one of them was lost, or does not
// answer, or had no heartbeat for a lease, renewHeld gives all back. After any other error the set
// keeps them.
func (a *attempt) renewHeld(ctx context.Context) error {
	short, cancel := a.briefly(ctx)
	defer cancel()
	held := a.held()
	err := renew(short, held, a.due())
	what := "one of the set was lost after it was taken"
	switch lapsed := slices.IndexFunc(held, (*member.Member).Lapsed); {
	case err == nil && lapsed >= 0: // as when this process was stopped
		what = "one of the set has lapsed"
		err = backend.Name(held[lapsed].Address).TooSlow(errors.New("it had no heartbeat for a lease"))
	case err == nil, ctx.Err() != nil:
		return err
	case errors.Is(err, backend.ErrGone):
	case short.Err() != nil:
		what = "one of the set does not answer"
	default:
		return err
	}
	_ = a.giveBack(ctx)
	return &backend.HeldError{Lock: a.members[0].Address, Obstacle: fmt.Errorf("%s: %w", what, err)}
}

func (a *attempt) held() []*member.Member {
	var held []*member.Member
	for _, m := range a.members {
		if m.Held() {
			held = append(held, m)
		}
	}
	return held
}

// refuse is called when m was refused, or when renewHeld gave all locks back before m was tried. If
// the set holds on, refuse keeps its locks, and otherwise gives them back. It returns the refusal.
// If the set can never be held, it returns another error: two of the names are one lock, or what is
// left of a lock keeps everybody out until a person removes it (backend.ErrStays).
func (a *attempt) refuse(ctx context.Context, m *member.Member, held *backend.HeldError) error {
	if m.OneName && slices.Contains(held.Holder.Kept, os.Getpid()) {
		return sameLock(m.Address, "this process has that file locked, by another name in this set or by a descriptor that it inherited")
	}
	if same := a.sameAs(held.Holder); same != nil {
		return &backend.Error{Code: protocol.Usage, Lock: m.Address, Op: "acquire",
			Err: fmt.Errorf("it is the same lock as %s, which this set holds", same.Address), Hint: "name it once"}
	}
	if before := a.refused; before != nil && before != m {
		short, cancel := a.briefly(ctx)
		_ = before.Withdraw(short) // our place in the queue of that lock would only hold up others
		cancel()
	}
	// A refusal does not count if the same lock is refused again and the set holds nothing. If it
	// counted, the set would come to hold on, and might be sent to wait for other locks in between.
	// But if the holder of this lock is dead by its lease, only a watch of a whole lease without a
	// break shows that.
	if m != a.refused || len(a.held()) > 0 {
		a.refusals++
	}
	a.refused = m
	if a.keeps() {
		return held
	}
	if err := a.giveBack(ctx); errors.Is(err, backend.ErrStays) {
		return err
	}
	return held
}

// sameAs returns the lock of this set that h holds, or nil. If there is one, then h is this set, and
// the refused lock is that lock by another name.
func (a *attempt) sameAs(h backend.Holder) *member.Member {
	for _, m := range a.held() {
		id := m.Hold.ID()
		if id == h.ID || h.Record != nil && id == h.Record.ID {
			return m
		}
	}
	return nil
}

// keeps decides after a refusal whether the set waits with its locks held. It also lets the set
// begin to hold on, and stop.
func (a *attempt) keeps() bool {
	now := a.clock.Now()
	switch {
	case !a.holdsOn:
		a.holdsOn = a.refusals >= a.set.policy.Refusals
		return false // a set that begins to hold on gives back what it has, so that it takes all in the common order
	case len(a.held()) == 0: // waiting for the first lock holds up nobody
		return false
	case a.until == 0:
		a.until = now + a.set.policy.Hold
	case now >= a.until:
		a.backOff()
		return false
	}
	return true
}

// backOff lets the set stop holding on, unless its policy is to always hold on.
func (a *attempt) backOff() {
	a.holdsOn, a.until, a.refusals = a.set.policy.Refusals <= 0, 0, 0
}

// giveBack releases all locks that the set has. A lock whose release has no answer does not count
// as held any more, because the lock's place may still execute the request. The next Try or Withdraw
// releases that lock again.
func (a *attempt) giveBack(ctx context.Context) error {
	short, cancel := a.briefly(ctx)
	defer cancel()
	return errors.Join(member.Each(a.held(), func(m *member.Member) error { return m.Release(short) })...)
}

// leaving returns the locks whose release had no answer.
func (a *attempt) leaving() []*member.Member {
	return slices.DeleteFunc(slices.Clone(a.members), func(m *member.Member) bool { return m.Hold == nil || m.Held() })
}

// finishGivingBack releases the locks again whose release had no answer. It comes before the tries:
// the try of such a lock would release it, too, but a refusal of another may end Try before that.
func (a *attempt) finishGivingBack(ctx context.Context) {
	leaving := a.leaving()
	if len(leaving) == 0 {
		return
	}
	short, cancel := a.briefly(ctx)
	defer cancel()
	member.Each(leaving, func(m *member.Member) error { return m.Release(short) })
}

// Wait implements backend.Attempt. It waits for the lock that was refused.
func (a *attempt) Wait(ctx context.Context) error {
	if a.holdsOn && len(a.held()) > 0 {
		return a.waitHolding(ctx)
	}
	if a.refused != nil {
		if err := a.waitForRefused(ctx); err != nil {
			return err
		}
	}
	// If sets take each other's locks in turn, a random pause brings them out of step.
	clock.Sleep(ctx, a.clock, rand.N(time.Millisecond<<min(a.refusals, maxStagger)))
	return ctx.Err()
}

// waitForRefused waits for the lock that was refused. If the release of a lock had no answer,
// waitForRefused waits for a quarter of a lease at most: only the next Try releases that lock again,
// and it must not be late because of the lock that was refused.
func (a *attempt) waitForRefused(ctx context.Context) error {
	if len(a.leaving()) == 0 {
		return a.refused.Wait(ctx)
	}
	short, cancel := a.briefly(ctx)
	defer cancel()
	if err := a.refused.Wait(short); err != nil && short.Err() == nil {
		return err
	}
	return ctx.Err()
}

// maxStagger bounds the random pause between two tries: 2^5 ms.
const maxStagger = 5

// waitHolding waits for the refused lock as long as the set holds on, and keeps the set's locks
// alive meanwhile.
func (a *attempt) waitHolding(ctx context.Context) error {
	waiting, cancel := clock.WithTimeout(ctx, a.clock, a.until-a.clock.Now())
	defer cancel()
	held := a.held() // now, because soon another goroutine uses the refused member
	wait := detached.GoErr(func() error { return a.refused.Wait(waiting) })
	for {
		beat := a.clock.NewTimer(owner.BeatsEvery(a.request.Owner.Lease))
		select {
		case <-wait.Done():
			beat.Stop()
			if _, err := wait.Result(); waiting.Err() == nil || ctx.Err() != nil {
				return err
			}
			a.backOff()
			_ = a.giveBack(ctx)
			return ctx.Err()
		case <-beat.C():
			beat.Stop()
			if err := renew(waiting, held, a.due()); errors.Is(err, backend.ErrGone) {
				cancel()
			}
		}
	}
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	return errors.Join(member.Each(a.members, func(m *member.Member) error { return m.End(ctx) })...)
}
