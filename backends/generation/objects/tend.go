package objects

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"locksmith/backends/shelf"
)

// tendEvery is how many calls of Tend are one pass: a listing costs as much as twelve looks.
const tendEvery = 16

// Tend implements backend.Hold. It removes what crashed lockers left: reservations once their
// owner is proven dead or was silent for a lease, and heartbeats without a reservation. While it
// hangs our own heartbeats go on, so it touches nothing of theirs.
func (h *hold) Tend(ctx context.Context) error {
	pass := h.tended%tendEvery == 0
	if h.tended++; !pass {
		return nil
	}
	l := h.Mine.lock
	v, err := l.list(ctx)
	if err != nil {
		return err
	}
	h.Others.Keep(v.watches)
	mine, ok := v.find(h.Mine.ticket)
	if !ok {
		return nil // the next heartbeat tells
	}
	now := v.sign(mine).Modified // our last heartbeat was just before
	var errs error
	for _, p := range v.queue {
		if p.ticket != mine.ticket {
			errs = errors.Join(errs, h.tend(ctx, p, now.Sub(v.sign(p).Modified)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.beats)) {
		t, ok := parseTicket(strings.TrimPrefix(key, beatPrefix))
		//rule:nobody
		if _, there := v.find(t); ok && !there {
			errs = errors.Join(errs, l.Store.Delete(ctx, key))
		}
	}
	return errors.Join(errs, shelf.Tend(ctx, &slips{lock: l}, v.slips, h.Others.Watcher))
}

// tend looks at a reservation that may be dead: by the store's clock it was silent for that
// long, or its process was here. Our own watch judges it.
func (h *hold) tend(ctx context.Context, p place, silent time.Duration) error {
	if silent < p.ticket.lease/2 && h.tended > 1 {
		return nil
	}
	s, err := h.Others.Look(ctx, p.ticket)
	switch {
	case absent(err):
		return nil
	case err != nil:
		return h.Mine.lock.fail("look at a waiter", err)
	//rule:lives
	case s.Due > 0:
		return nil
	}
	//rule:remove
	return h.Mine.lock.remove(ctx, p.ticket)
}
