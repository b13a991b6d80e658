//go:build unix

package link

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/owner"
)

const (
	// oldest is when the file of somebody on another machine is litter, at the
	// soonest.
	oldest = time.Hour
	// maxCrowd is how many names there may be in the directory, which is not the
	// lock's alone, for a holder to list it at every heartbeat.
	maxCrowd = 500
)

// Tend implements backend.Hold. It removes what crashed waiters and breakers left.
func (h *hold) Tend(ctx context.Context) error {
	h.mu.Lock()
	now, done := h.now, h.gone || h.crowd
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
		h.crowd = true
		h.mu.Unlock()
	}
	return h.others.sweepThese(ctx, names, now, h.ID())
}

// sweep lists the directory and removes claims and chain entries of the dead.
func (w watcher) sweep(ctx context.Context, now time.Time, own string) error {
	names, err := w.fs.List()
	if err != nil {
		return w.lock.fail("list what is beside the lock", err)
	}
	return w.sweepThese(ctx, names, now, own)
}

func (w watcher) sweepThese(ctx context.Context, names []string, now time.Time, own string) error {
	var errs error
	for _, name := range names {
		if ctx.Err() != nil {
			return errs
		}
		if id, ok := w.lock.parseClaim(name); ok && id != own {
			errs = errors.Join(errs, w.sweepFile(name, id, now))
		}
		if dead, _, ok := w.lock.parseChain(name); ok {
			errs = errors.Join(errs, w.sweepEntry(name, dead, now))
		}
	}
	return errs
}

// sweepEntry removes a chain entry of a dead breaker. While the lock is still that
// of the one to be broken it must stay: the next breaker has counted it.
func (w watcher) sweepEntry(name, dead string, now time.Time) error {
	s, err := w.see(w.lock.Name)
	switch {
	case errors.Is(err, errAbsent):
	case err != nil:
		return err
	case s.id() == dead, s.unreadable:
		return nil
	}
	return w.sweepFile(name, "", now)
}

// sweepFile removes a file whose owner is dead by proof, or old by the server's
// clock. A claim must be what its name says.
func (w watcher) sweepFile(name, id string, now time.Time) error {
	s, err := w.see(name)
	switch {
	case errors.Is(err, errAbsent):
		return nil
	case err != nil:
		return err
	case s.stat.Kind != "":
		return nil
	case id != "" && !s.content.Holds(id):
		s.Verdict, s.content.Record = owner.Unknown, nil
	}
	if s.Verdict != owner.Dead && now.Sub(s.stat.Modified) <= max(2*w.lease(s.content), oldest) {
		return nil
	}
	if err := w.fs.Unlink(name); err != nil && !absent(err) && !forbidden(err) {
		return w.lock.fail("remove what a dead one left", err)
	}
	return nil
}
