//go:build unix

package symlinks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

// Tend implements backend.Hold. It removes what crashed lockers left, each by its ticket, once
// its owner is proven dead or was silent for a lease. It looks the next time at what ctx leaves
// no time for.
func (h *hold) Tend(ctx context.Context) error {
	l := h.Mine.lock
	//rule:keep
	h.keep(ctx)
	names, err := l.names(ctx, Reservations)
	if err != nil {
		return l.Fail("list reservations", err)
	}
	slices.Sort(names)
	h.Others.Keep(within(names))
	s := tending{lock: l, others: h.Others, inside: map[entry][]string{},
		owned: map[string]bool{h.Mine.ticket.String(): true}}
	errs := s.findOwned(ctx, names)
	start, _ := slices.BinarySearch(names, h.next)
	for _, name := range slices.Concat(names[start:], names[:start]) {
		if h.next = name; ctx.Err() != nil {
			return errs
		}
		errs = errors.Join(errs, s.entry(ctx, name))
	}
	h.next = ""
	return errors.Join(errs, l.removeProbes(ctx))
}

// keepEvery is how often the times are set by which a cleaner by age would go. Cleaners count in days.
const keepEvery = time.Hour

// keep makes what a held lock needs look used to a cleaner by age, the first time after the first
// heartbeat, so a short hold pays nothing. The modification time of our generation stays: it tells
// since when the lock is held.
func (h *hold) keep(ctx context.Context) {
	now := h.Mine.Clock.Now()
	if now < h.keepAt {
		return
	}
	h.keepAt = now + keepEvery
	names := []string{h.Mine.ticket.record(), Generations, Reservations}
	if h.Number > 1 {
		names = append(names, lockName(h.Number-1)) // a listing that misses ours must not be empty
	}
	if h.Mine.in.kind != exclusive {
		names = append(names, h.Mine.in.path())
	}
	h.Mine.lock.Dir.Keep(ctx, lockName(h.Number), names...)
}

// A tending is one pass over all reservations.
type tending struct {
	lock   *Lock
	others watch.Others[spot]
	inside map[entry][]string // what was listed in shared directories
	owned  map[string]bool    // tickets that are more than a record
	blind  bool               // owned may lack some
}

// findOwned notes the tickets of reservations and of members.
func (s *tending) findOwned(ctx context.Context, names []string) error {
	var errs error
	for _, name := range names {
		if ctx.Err() != nil {
			s.blind = true
			return errs
		}
		e, ok := parseEntry(name)
		if !ok {
			continue
		}
		s.owned[e.ticket.String()] = true
		if e.kind == shared {
			members, err := s.lock.names(ctx, e.path())
			switch {
			case err == nil:
				s.inside[e] = members
			case !absent(err):
				s.blind, errs = true, errors.Join(errs, s.lock.Fail("list members", err))
			}
			for _, m := range members {
				s.owned[m] = true
			}
		}
	}
	return errs
}

// entry looks at one name in Reservations. A name that is not ours stays.
func (s *tending) entry(ctx context.Context, name string) error {
	if note, ok := shelf.ParseNote(name); ok {
		return shelf.Tend(ctx, &slips{lock: s.lock}, []shelf.Slip{note}, s.others.Watcher)
	}
	if t, ok := parseRecordName(name); ok && !s.blind && !s.owned[t.String()] {
		return s.look(ctx, t.record(), t, func() error { return s.lock.Dir.Unlink(ctx, t.record()) })
	}
	e, ok := parseEntry(name)
	switch {
	case !ok:
		return nil
	case e.kind == exclusive:
		return s.look(ctx, e.path(), e.ticket, func() error { return s.both(ctx, e, e.ticket) })
	}
	return s.members(ctx, e)
}

// members looks at a shared directory, finished or not. An empty one has ended, or its maker is
// just about to enter it.
func (s *tending) members(ctx context.Context, e entry) error {
	names, listed := s.inside[e]
	var err error
	if !listed {
		names, err = s.lock.names(ctx, e.path())
	}
	if err != nil && !absent(err) {
		return s.lock.Fail("list members", err)
	}
	s.others.Keep(noOther(e, names))
	var errs error
	for _, name := range names {
		if t, ok := parseTicket(name); ok {
			errs = errors.Join(errs, s.look(ctx, e.member(t), t, func() error { return s.both(ctx, e, t) }))
		}
	}
	if len(names) == 0 && err == nil {
		errs = s.look(ctx, e.path(), e.ticket, func() error { return s.lock.Dir.Rmdir(ctx, e.path()) })
	}
	return errs
}

// both removes a reservation and its record.
func (s *tending) both(ctx context.Context, e entry, t ticket) error {
	if err := s.lock.remove(ctx, e, t); err != nil && !absent(err) {
		return err
	}
	return s.lock.Dir.Unlink(ctx, t.record())
}

// look watches one thing, and removes it when its time has come. Our own is alive.
func (s *tending) look(ctx context.Context, path string, t ticket, remove func() error) error {
	seen, err := s.others.Look(ctx, spot{path, t})
	//rule:lives
	if absent(err) || err == nil && seen.Due > 0 {
		return nil
	}
	if err == nil {
		err = remove()
	}
	if err != nil && !absent(err) && !notEmpty(err) {
		return s.lock.Fail("sweep "+path, err)
	}
	return nil
}

// removeProbes removes probes whose makers died between its two steps. A probe that is still in
// use has served its purpose when it was made.
func (l *Lock) removeProbes(ctx context.Context) error {
	names, err := l.names(ctx, Generations)
	if err != nil {
		return l.Fail("list generations", err)
	}
	for _, name := range names {
		t, ok := strings.CutPrefix(name, probePrefix)
		if _, valid := parseTicket(t); ok && valid {
			_ = l.Dir.Rmdir(ctx, Generations+"/"+name)
		}
	}
	return nil
}
