//go:build unix

package link

import (
	"context"
	"errors"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// look sees who has the lock. Its error is a *backend.HeldError, or backend.ErrAgain.
func (a *attempt) look() (*hold, error) {
	s, err := a.others.look(a.lock.Name, a.mine.now)
	if errors.Is(err, errAbsent) {
		a.prior = nil // it cannot be the lock later on
		return nil, backend.ErrAgain
	}
	if err != nil {
		return nil, err
	}
	if c := a.ours(s); c != nil {
		if !c.stat.Same(s.Of.stat) {
			return nil, c.expose(a.lock.Name, "a file has another number under its second name")
		}
		if c != a.mine {
			if err := a.withdrawClaim(); err != nil {
				return nil, err
			}
		}
		return a.enter(c)
	}
	a.prior = nil
	if !a.known || a.seen.Of.sign() != s.Of.sign() {
		a.others.Keep(func(name string) bool { return name == a.lock.Name }) // the rest is over
	}
	if !a.known || a.seen.Of.id() != s.Of.id() {
		a.crowd.Changed(a.request.Clock.Now())
	}
	a.seen, a.known = s, true
	switch {
	case s.Of.content.Binary:
		return nil, a.lock.Address.Unfit("look at lock file", lockfile.NoBinary,
			"if only this machine uses it, let all of us write "+backend.ShellWord("local:"+backend.EscapePath(a.lock.Path)+"?pid=binary"))
	case s.Due > 0:
		return nil, a.held()
	}
	return nil, a.breakDead(s)
}

// ours returns the claim of ours that is the lock, or nil.
func (a *attempt) ours(s observation) *claim {
	//rule:prior
	for _, c := range append(slices.Clone(a.prior), a.mine) {
		//rule:holds
		if c != nil && s.Of.content.Holds(c.record.ID) {
			return c
		}
	}
	return nil
}

// breakDead removes a dead holder's lock. backend.ErrAgain means that it is gone.
func (a *attempt) breakDead(s observation) error {
	if a.sticky == s.Of.sign() {
		return a.heldSticky()
	}
	q := breakQueue{lock: a.lock, fs: a.fs, others: a.others, claim: a.mine, dead: s}
	rival, err := q.run()
	a.left = append(a.left, q.left...)
	switch {
	case rival != nil:
		a.seen.Due = rival.Due
		a.seen.Note = "somebody else is about to remove it"
		return a.held()
	case errors.Is(err, errSticky):
		a.sticky = s.Of.sign()
		return a.heldSticky()
	case err != nil:
		return err
	}
	a.request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
	return backend.ErrAgain
}

func (a *attempt) heldSticky() error {
	a.seen.Due = watch.Never
	a.seen.Note = backend.StickyNote
	return &backend.HeldError{Lock: string(a.lock.Address), Holder: a.seen.Holder(a.lock.Today()).Sticky(a.lock.Address)}
}

func (a *attempt) held() error {
	if c := a.seen.Of.content; c.Record == nil && c.PID == 0 {
		a.request.MeetForeign()
	}
	return &backend.HeldError{Lock: string(a.lock.Address), Holder: a.seen.HolderThere(a.lock.Today(), a.seen.Of.now)}
}

// obstacle is the error while nobody can tell whether the lock is held.
func (a *attempt) obstacle(err error) error {
	return &backend.HeldError{Lock: string(a.lock.Address), Holder: a.seen.Holder(a.lock.Today()), Obstacle: err}
}

// Wait implements backend.Attempt. It waits as long as the schedule says, or until the lock may
// be broken, or goes away if that can be noticed.
func (a *attempt) Wait(ctx context.Context) error {
	if a.fs == nil {
		return ctx.Err()
	}
	a.count()
	watched, name := process.Process{}, a.lock.Name
	switch {
	case a.crowd.Sleeps():
		name = ""
	case a.known:
		watched = a.lock.toWatch(a.seen.Of.content)
	}
	a.fs.Await(ctx, name, watched, a.pause())
	return ctx.Err()
}

// count counts the waiters now and then.
func (a *attempt) count() {
	now := a.request.Clock.Now()
	if !a.crowd.Due(now) {
		return
	}
	if names, err := a.fs.List(); err == nil { // else the next Try tells
		n := 0
		for _, name := range names {
			if _, ok := a.lock.parseClaim(name); ok {
				n++
			}
		}
		a.crowd.Count(n, len(names), now)
	}
}

// The pauses of a crowd, before they are spread, grow with the time that nothing has happened.
// The usual ones would be too long, as for waiters that are woken.
const crowdMin, crowdMax = 32 * time.Millisecond, 250 * time.Millisecond

func (a *attempt) pause() time.Duration {
	d := a.pauses.Next()
	if a.crowd.Large() {
		d = a.crowd.Spread(a.crowd.Growing(a.request.Clock.Now(), crowdMin, crowdMax))
	}
	if a.known && a.seen.Due > 0 {
		d = min(d, max(a.seen.Due, time.Millisecond))
	}
	return d
}
