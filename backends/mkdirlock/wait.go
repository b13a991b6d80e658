package mkdirlock

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A block is what kept the last Try from acquiring the lock.
type block struct {
	seen     observation     // the holder, if there is an entry
	nobody   *backend.Holder // what there is instead of an entry
	known    bool            // anything was seen at all
	heldBack bool            // seen is a waiter, for which we hold back
	there    time.Time       // by the clock of the lock's place, when it was seen; zero: not known
	again    time.Duration   // when to look again, by the request's clock
	missed   int             // how often the lock seemed to be gone, in this Try
}

// lookDue reports whether it is time to look who has the lock: a look costs several calls, a mere
// try one.
func (a *attempt) lookDue() bool {
	b := &a.block
	return !b.known || a.request.Clock.Now() >= b.again ||
		b.seen.Verdict != owner.Dead && a.lock.Verdict(b.seen.Record) == owner.Dead
}

// isShort reports that we wait for less than a lease. So we never see that a holder is silent for one.
func (a *attempt) isShort() bool { return a.request.Timeout < a.request.Owner.Lease }

// byPlace is when a directory last changed, at the latest, and what time it is now, at least, by the
// clock of the lock's place: what we made there ourselves, for this try, has a time. Zero: not known.
func (a *attempt) byPlace(ctx context.Context, at string) (changed, there time.Time) {
	if a.mine == nil {
		return changed, there
	}
	own, it := entryAt(ctx, a.dir, cmp.Or(a.mine.home, a.mine.path())), entryAt(ctx, a.dir, at)
	if own.Modified.IsZero() || it.Modified.IsZero() {
		return changed, there
	}
	return own.Modified.Add(-dirs.Age(it, own.Modified)), own.Modified
}

// entryAt is a directory with its time. If that is not known, the time is zero.
func entryAt(ctx context.Context, dir dirs.Dir, at string) dirs.Entry {
	if d, ok := dir.(dirs.Owned); ok {
		return d.Stat(at)
	}
	stat, ok := dir.(dirs.StatDir)
	if !ok {
		return dirs.Entry{}
	}
	all, _ := stat.Entries(ctx, path.Dir(at)) // what fails tells no time
	i := slices.IndexFunc(all, func(e dirs.Entry) bool { return e.Name == path.Base(at) })
	if i < 0 {
		return dirs.Entry{}
	}
	return all[i]
}

// held notes who has the lock and returns the error that says so. If a short try meets a holder that may
// be silent for its lease, it looks for the holder's last heartbeat by the clock of the lock's place. That
// tells, and breaks nothing.
func (a *attempt) held(ctx context.Context, s observation) error {
	b := &a.block
	b.there = time.Time{}
	if a.isShort() && s.Verdict != owner.Alive && s.Verdict != owner.Dead && a.lock.Today().Sub(s.Since).Abs() > s.Lease { // whose clock it is hardly matters
		s.Beat, b.there = a.byPlace(ctx, s.Of.String())
	}
	now := a.request.Clock.Now()
	if !b.known || b.seen.Of.entry != s.Of.entry || b.heldBack {
		a.crowd.Changed(now)
	}
	every := a.lock.Pace.Look
	if every == 0 {
		every = a.request.Owner.Lease / 2
	}
	b.seen, b.nobody, b.known, b.heldBack = s, nil, true, false
	b.again = now + min(s.Due, a.crowd.Spread(every))
	if a.crowd.Sleeps() {
		b.again = now + a.crowd.Spread(min(s.Due, every)) // other waiters notice a dead holder, too
	}
	return a.heldAgain()
}

// heldByNobody is held for a lock without an entry: an empty directory, or something else.
// Locksmith does not break it, for it may be the lock of a program that uses mkdir alone.
func (a *attempt) heldByNobody(ctx context.Context, names []string, doubt bool) error {
	b := &a.block
	now := a.request.Clock.Now()
	if !b.known || b.nobody == nil {
		a.crowd.Changed(now)
	}
	b.seen, b.known, b.heldBack = observation{}, true, false
	there := a.lock.nobody(names, doubt)
	if len(names) == 0 && a.isShort() {
		if changed, now := a.byPlace(ctx, a.lock.lock()); !now.IsZero() {
			// Its maker is believed for as long as we ask to be.
			there.Age, there.Heartbeat, there.ByPlace, there.Lease = now.Sub(changed), now.Sub(changed), true, a.request.Owner.Lease
		}
	}
	b.nobody = &there
	b.again = now
	return a.heldAgain()
}

// unlisted is for a lock that exists when we try to make it, and then cannot be listed. The first
// time in a Try its error is backend.ErrAgain, because the lock may just have been released. After
// that it counts as empty, because some servers refuse to list what is empty.
func (a *attempt) unlisted(ctx context.Context) error {
	if a.block.missed++; a.block.missed == 1 {
		return backend.ErrAgain
	}
	return a.heldByNobody(ctx, nil, false)
}

// obstructed says that nobody can tell at the moment who has the lock.
func (a *attempt) obstructed(why error) error {
	a.block.again = 0 // look anew
	return &backend.HeldError{Lock: string(a.lock.Address), Holder: a.block.holder(a.lock.Today()), Obstacle: why}
}

// heldAgain says who has the lock, as far as the last look told.
func (a *attempt) heldAgain() error {
	h := a.block.holder(a.lock.Today())
	if h.Note == backend.StickyNote {
		h = h.Sticky(a.lock.Address)
	}
	return &backend.HeldError{Lock: string(a.lock.Address), Holder: h, Yielding: a.block.heldBack}
}

// holder describes for people what the last look saw.
func (b *block) holder(today time.Time) backend.Holder {
	if b.nobody != nil {
		return *b.nobody
	}
	return b.seen.HolderThere(today, b.there)
}

// Wait implements backend.Attempt. A waiter shows its record, and that it lives.
func (a *attempt) Wait(ctx context.Context) error {
	if a.dir == nil {
		return ctx.Err()
	}
	if err := a.beatWaiting(ctx); err != nil {
		return err
	}
	if a.phase == fresh {
		a.phase = waiting
	}
	a.count(ctx)
	if a.crowd.Sleeps() {
		return a.sleep(ctx)
	}
	a.dir.Await(ctx, a.lock.lock(), a.lock.ProcessToWatch(a.block.seen.Record), a.untilBeatOr(a.pause()))
	return ctx.Err()
}

// sleep waits for the whole pause, and makes the heartbeats that are due meanwhile.
func (a *attempt) sleep(ctx context.Context) error {
	left := a.pause()
	for end := a.request.Clock.Now() + left; ; {
		a.dir.Await(ctx, "", process.Process{}, a.untilBeatOr(left))
		left = end - a.request.Clock.Now()
		if left <= 0 || ctx.Err() != nil || a.mine == nil {
			return ctx.Err()
		}
		if err := a.beatWaiting(ctx); err != nil {
			return err
		}
	}
}

// count counts those who wait, now and then.
func (a *attempt) count(ctx context.Context) {
	now := a.request.Clock.Now()
	if !a.crowd.Due(now) {
		return
	}
	around, _ := a.lock.around()
	names, err := a.dir.List(ctx, around)
	switch {
	case err == nil:
		a.crowd.Count(len(a.lock.reservationsIn(names)), len(names), now)
	case errors.As(err, new(backend.TooLongError)):
		a.crowd.Each = 0 // such a listing is more work for the server than many waiters are: never again
	} // after any other error the next Try tells
}

// beatWaiting makes a heartbeat, if one is due, in the reservation or the entry that waits for
// us. The first brings our record.
func (a *attempt) beatWaiting(ctx context.Context) error {
	c := a.mine
	if a.phase != fresh && a.phase != waiting || len(c.beats) > 0 && a.untilBeat() > 0 {
		return nil
	}
	err := c.refresh(ctx)
	if errors.Is(err, dirs.ErrAbsent) {
		err = a.withdraw(ctx)
	}
	if err != nil && dirs.Passing(err) {
		return nil // the next Try tells
	}
	return err
}

// untilBeat is the time until the next heartbeat of a claim that waits.
func (a *attempt) untilBeat() time.Duration {
	//rule:shown
	return a.mine.shown + a.lock.waiterBeats(a.mine.entry.Ticket) - a.request.Clock.Now()
}

// waiterBeats is how long after a heartbeat of a waiter the next one is due. In plain style that
// is a lease or more: there only an operator removes the reservation of a waiter that may live,
// and reap when it is left over (owner.LeftOver). It differs from waiter to waiter, so that those
// who came together do not stay together.
func (l *Lock) waiterBeats(t labels.Ticket) time.Duration {
	if l.Style == DirStyle {
		return owner.BeatsEvery(t.Lease)
	}
	sum := fnv.New32()
	_, _ = sum.Write([]byte(t.ID))
	return t.Lease + t.Lease*3/4/256*time.Duration(sum.Sum32()%256)
}

// pause is how long to wait before the next Try, heartbeats apart.
func (a *attempt) pause() time.Duration {
	now := a.request.Clock.Now()
	most := a.lock.Pace.Max
	if a.crowd.Large() {
		most = cmp.Or(a.lock.Pace.Crowd, most)
	}
	d := a.crowd.Spread(a.crowd.Growing(now, a.lock.Pace.Min, most))
	if less := a.lock.Pace.Less; less > 0 {
		d -= rand.N(less + 1)
	}
	d = a.pauses.NextOr(d)
	if left := a.block.again - now; left > 0 {
		d = min(d, left)
	}
	return d
}

// untilBeatOr is d, or less if a heartbeat is due before.
func (a *attempt) untilBeatOr(d time.Duration) time.Duration {
	if a.mine == nil {
		return d
	}
	return min(d, max(a.untilBeat(), min(a.lock.Pace.Min, a.mine.entry.Ticket.Lease/16)))
}
