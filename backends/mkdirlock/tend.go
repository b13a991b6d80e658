package mkdirlock

import (
	"context"
	"errors"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// Tend implements backend.Hold. It removes what crashed waiters left: reservations that are
// empty, or whose owner is proven dead or, in dir style, was silent for a lease. Each is removed
// by its ticket. It ends when ctx does, or when mostStay of them have stayed, and the next call
// goes on from there: the more wait, the less is asked about each.
func (h *hold) Tend(ctx context.Context) error {
	if h.crowd {
		return nil
	}
	around, _ := h.lock.around()
	names, err := h.dir.List(ctx, around)
	h.crowd = h.lock.Style == PlainStyle && (len(names) > maxCrowd || errors.As(err, new(backend.TooLongError)))
	if err != nil {
		return h.lock.fail("list who waits", err)
	}
	waiting := h.lock.reservationsIn(names)
	slices.SortFunc(waiting, func(s, t labels.Ticket) int { return strings.Compare(s.String(), t.String()) })
	beside, slips := h.lock.slips(h.dir, names)
	h.others.Keep(h.lock.present(waiting, slips))
	start, _ := slices.BinarySearchFunc(waiting, h.next, func(t labels.Ticket, next string) int { return strings.Compare(t.String(), next) })
	errs := shelf.Tend(ctx, beside, slips, h.others.Watcher)
	stay := 0
	for _, t := range slices.Concat(waiting[start:], waiting[:start]) {
		if h.next = t.String(); ctx.Err() != nil || stay == mostStay {
			return errs
		}
		stays, err := h.tendReservation(ctx, t)
		errs = errors.Join(errs, err)
		if stays {
			stay++
		}
	}
	h.next = ""
	return errs
}

// maxCrowd is how many names a directory that is not the lock's alone may have: a holder stops
// listing a longer one at its heartbeats.
const maxCrowd = 500

// mostStay is how many reservations that stay one call of Tend looks at: the server is asked
// about each.
const mostStay = 8

// tendReservation removes a reservation if it is left over. Else it stays.
func (h *hold) tendReservation(ctx context.Context, t labels.Ticket) (stays bool, err error) {
	s, err := h.others.Look(ctx, spot{at: h.lock.reservation(t), entry: labels.Entry{Kind: labels.Exclusive, Ticket: t}})
	switch {
	case errors.Is(err, dirs.ErrAbsent):
		//rule:empty
		return false, h.tendEmpty(ctx, t) // or the entry is on its way into the lock, or out
	case err != nil:
		return false, err
	//rule:lives
	case overIn(s) > 0, h.lock.Style == PlainStyle && s.Verdict != owner.Dead && s.Record != nil:
		return true, nil
	}
	return false, h.lock.removeReservation(ctx, h.dir, t)
}

// tendEmpty removes a reservation that has had no entry for a lease.
func (h *hold) tendEmpty(ctx context.Context, t labels.Ticket) error {
	at := h.lock.reservation(t)
	if h.others.Listed(at, "empty", h.others.Rule(owner.Unknown, t.Lease)) > 0 {
		return nil
	}
	return h.lock.removeIfEmpty(ctx, h.dir, at, "remove a reservation")
}
