package mkdirlock

import (
	"context"
	"errors"
	"slices"

	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// Tend implements backend.Hold. It removes the reservations that crashed waiters
// left, each by its ticket, once they are dead by proof; or were silent for a
// lease, in the style of directories, where those who live are not; or are empty.
// What ctx leaves no time for it looks at the next time.
func (h *hold) Tend(ctx context.Context) error {
	if h.crowd {
		return nil
	}
	around, _ := h.lock.around()
	names, err := h.dir.List(ctx, around)
	h.crowd = h.lock.Style == PlainStyle && (len(names) > maxCrowd || errors.Is(err, ErrTooLong))
	if err != nil {
		return h.lock.fail("list who waits", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, ok := h.lock.parseReservation(name)
		return !ok
	})
	slices.Sort(names)
	h.others.keepReservations(names)
	start, _ := slices.BinarySearch(names, h.next)
	var errs error
	for _, name := range slices.Concat(names[start:], names[:start]) {
		if h.next = name; ctx.Err() != nil {
			return errs
		}
		t, _ := h.lock.parseReservation(name)
		errs = errors.Join(errs, h.tendReservation(ctx, t))
	}
	h.next = ""
	return errs
}

// maxCrowd is how many names there may be in a directory that is not the lock's
// alone, for a holder to list it at every heartbeat.
const maxCrowd = 500

func (h *hold) tendReservation(ctx context.Context, t ticket) error {
	s, err := h.others.look(ctx, h.lock.reservation(t), entry{exclusive, t})
	switch {
	case errors.Is(err, errAbsent):
		return h.tendEmpty(ctx, t) // or it is on its way into the lock, or out
	case err != nil:
		return err
	case s.overIn() > 0, h.lock.Style == PlainStyle && s.Verdict != owner.Dead && s.Record != nil:
		return nil
	}
	return h.lock.removeReservation(ctx, h.dir, t)
}

// tendEmpty removes a reservation in which no entry was for a lease.
func (h *hold) tendEmpty(ctx context.Context, t ticket) error {
	at := h.lock.reservation(t)
	seen, _ := h.others.Look(at, func(watch.Seen) (watch.Seen, error) {
		return watch.Seen{Sign: "empty", Rules: []watch.Rule{h.others.Rule(owner.Unknown, t.lease)}}, nil
	})
	if seen.Due > 0 {
		return nil
	}
	if err := h.dir.Rmdir(ctx, at); err != nil && !refused(err) {
		return h.lock.fail("remove a reservation", err)
	}
	return nil
}
