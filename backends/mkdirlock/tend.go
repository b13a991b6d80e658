package mkdirlock

import (
	"context"
	"errors"
	"slices"

	"locksmith/backends/owner"
)

// Tend implements backend.Tender. It removes the reservations that crashed waiters
// left, each by its ticket, once they are dead by proof; or were silent for a
// lease, in the style of directories, where those who live are not. What ctx
// leaves no time for it looks at the next time.
func (h *hold) Tend(ctx context.Context) error {
	around, _ := h.lock.around()
	names, err := h.dir.List(ctx, around)
	if err != nil {
		return h.lock.fail("list who waits", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, ok := h.lock.parseReservation(name)
		return !ok
	})
	slices.Sort(names)
	start, _ := slices.BinarySearch(names, h.next)
	var errs error
	for _, name := range slices.Concat(names[start:], names[:start]) {
		if h.next = name; ctx.Err() != nil {
			return errs
		}
		t, _ := h.lock.parseReservation(name)
		errs = errors.Join(errs, h.sweep(ctx, t))
	}
	h.next = ""
	return errs
}

func (h *hold) sweep(ctx context.Context, t ticket) error {
	s, err := h.vigil.look(ctx, h.lock.reservation(t), entry{exclusive, t})
	switch {
	case errors.Is(err, errAbsent):
		return nil // it is on its way into the lock, or out
	case err != nil:
		return err
	case s.due > 0, h.lock.Style == PlainStyle && s.verdict != owner.Dead:
		return nil
	}
	return h.lock.removeReservation(ctx, h.dir, t)
}
