//go:build unix

package link

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"locksmith/backends/backoff"
	"locksmith/backends/owner"
)

const (
	// oldest is after how long the file of somebody on another machine counts as left over, at
	// the soonest.
	oldest = time.Hour
	// maxCrowd is how many names there may be in the directory, which is not the lock's alone,
	// for a holder to list it at every heartbeat.
	maxCrowd = 500
)

// Tend implements backend.Hold. It removes what crashed waiters and breakers left.
func (h *hold) Tend(ctx context.Context) error {
	h.mu.Lock()
	now, done := h.now, h.gone || h.crowded
	h.mu.Unlock()
	if done {
		return nil
	}
	names, err := h.fs.List()
	if err != nil {
		return h.lock.fail("list what is beside the lock", err)
	}
	if len(names) > maxCrowd {
		h.mu.Lock()
		h.crowded = true
		h.mu.Unlock()
	}
	return h.others.tendNames(ctx, names, now, h.ID())
}

// tend lists the directory and removes claims and queue entries of the dead. In a crowd it looks
// at only a few. If all newcomers looked at all who are there, that would keep them busy; and
// holders look at all.
func (w watcher) tend(ctx context.Context, now time.Time, own string) error {
	names, err := w.fs.List()
	if err != nil {
		return w.lock.fail("list what is beside the lock", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !w.lock.leaves(name) })
	if len(names) > backoff.Few {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	return w.tendNames(ctx, names[:min(len(names), backoff.Few)], now, own)
}

func (w watcher) tendNames(ctx context.Context, names []string, now time.Time, own string) error {
	var errs error
	for _, name := range names {
		if ctx.Err() != nil {
			return errs
		}
		if id, ok := w.lock.parseClaim(name); ok && id != own {
			errs = errors.Join(errs, w.tendFile(name, id, now))
		}
		if dead, _, ok := w.lock.parseEntry(name); ok {
			errs = errors.Join(errs, w.tendEntry(name, dead, now))
		}
	}
	return errs
}

// tendEntry removes a queue entry of a dead breaker. It must stay while the lock still belongs
// to the holder that is to be broken, because the next breaker has counted it.
func (w watcher) tendEntry(name, dead string, now time.Time) error {
	s, err := w.see(w.lock.Name)
	switch {
	case errors.Is(err, errAbsent):
	case err != nil:
		return err
	//rule:dead
	case s.Of.id() == dead, s.Of.unreadable:
		return nil
	}
	return w.tendFile(name, "", now)
}

// tendFile removes a file whose owner is dead by proof, or old by the server's clock. A claim
// must be what its name says.
func (w watcher) tendFile(name, id string, now time.Time) error {
	s, err := w.see(name)
	switch {
	case errors.Is(err, errAbsent):
		return nil
	case err != nil:
		return err
	case s.Of.stat.Kind != "":
		return nil
	case id != "" && !s.Of.content.Holds(id):
		s.Verdict, s.Of.content.Record = owner.Unknown, nil
	}
	//rule:old
	if s.Verdict != owner.Dead && now.Sub(s.Of.stat.Modified) <= max(owner.LeftOver(w.lease(s.Of.content)), oldest) {
		return nil
	}
	if err := w.fs.Unlink(name); err != nil && !absent(err) && !forbidden(err) {
		return w.lock.fail("remove what a dead one left", err)
	}
	return nil
}

// A leftover is a name that may be our own. If it is, it is to be removed.
type leftover struct{ name, id string }

// remove reports whether what is ours is gone. Somebody else may have an entry of this name by
// now.
func (x leftover) remove(fs FS) bool {
	_, text, err := fs.Read(x.name)
	switch {
	case absent(err):
		return true
	case err != nil:
		return false
	case !parse(text).Holds(x.id):
		return true
	}
	err = fs.Unlink(x.name)
	return err == nil || absent(err)
}
