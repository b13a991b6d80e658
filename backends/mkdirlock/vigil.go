package mkdirlock

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A vigil watches other people's entries and decides when one may be broken. It
// remembers what it saw of each.
type vigil struct {
	lock    *Lock
	dir     Dir
	request backend.Request
	watched map[string]*watch // by path
}

// A watch is what is known of an entry from earlier looks.
type watch struct {
	owner.Patience
	// bare is for an entry in which there is nothing.
	bare owner.Patience
}

// bareTime is how long a bare entry in the lock is left to its owner. An entry is bare
// until the first heartbeat, before which nobody says OK, and when it is being removed,
// after which nobody relies on it. So it is no holder's, even if nobody is proven dead.
const bareTime = 5 * time.Second

// A sighting is an entry as just seen.
type sighting struct {
	entry   entry
	at      string   // where it is
	inside  []string // what is in it
	record  *owner.Record
	note    string // why there is no record
	sign    string // of life; empty if it could not be looked at
	verdict owner.Verdict
	// due is how long the same must still be seen before it may be broken: 0 is
	// now, owner.Never is until something else happens.
	due time.Duration
	// bareDue is the same for an entry that must still be bare then: it may be removed,
	// but not emptied. Never if it is not bare.
	bareDue time.Duration
}

// left is how long the same must still be seen before the entry may be broken in one
// way or the other, and isOver that it may now.
func (s sighting) left() time.Duration { return min(s.due, s.bareDue) }
func (s sighting) isOver() bool        { return s.left() == 0 }

func (l *Lock) newVigil(dir Dir, r backend.Request) *vigil {
	return &vigil{lock: l, dir: dir, request: r, watched: map[string]*watch{}}
}

// look looks at an entry. errAbsent means that it seems to be gone.
func (v *vigil) look(ctx context.Context, at string, e entry) (sighting, error) {
	s := sighting{entry: e, at: at, bareDue: owner.Never}
	path := at + "/" + e.String()
	before := v.request.Clock.Now()
	p := v.of(path)
	names, err := v.dir.List(ctx, path)
	if refused(err) {
		// Some servers refuse to list what is empty.
		var there bool
		if there, err = v.lock.contains(ctx, v.dir, at, e.String()); err == nil && !there {
			err = errAbsent
		}
	}
	if err != nil {
		p.Forget()
	}
	if err != nil || len(names) > 0 {
		p.bare.Forget()
	} else {
		s.bareDue = p.bare.Look(before, "bare", false, min(e.ticket.lease/2, bareTime))
	}
	switch {
	case errors.Is(err, errAbsent):
		return s, errAbsent
	case err != nil && passing(err):
		return s, v.lock.fail("look at an entry", err)
	case err != nil:
		// It is held all the same.
		s.note, s.due, s.verdict = "it cannot be looked at: "+err.Error(), owner.Never, owner.Unknown
		return s, nil
	}
	s.inside = names
	s.record, s.note = recordIn(names, e.ticket.id)
	s.verdict = owner.VerdictOn(s.record, v.lock.Judge)
	// The number alone: the rest of the name may be anything. A listing may miss a
	// name while it is renamed, and then the watch starts again. The lease is the
	// ticket's: the record may be missing or somebody's joke.
	beat, _ := latestBeat(names)
	s.sign = "beat " + beat
	s.due = p.Look(before, s.sign, s.verdict == owner.Dead, e.ticket.lease)
	return s, nil
}

func (v *vigil) of(path string) *watch {
	w := v.watched[path]
	if w == nil {
		w = &watch{
			Patience: owner.Patience{Clock: v.request.Clock, Strict: v.request.Strict, Respite: v.request.Respite},
			bare:     owner.Patience{Clock: v.request.Clock},
		}
		v.watched[path] = w
	}
	return w
}

// forgetBut keeps only what is known of these entries.
func (v *vigil) forgetBut(at string, entries []entry) {
	for path := range v.watched {
		if !slices.ContainsFunc(entries, func(e entry) bool { return path == at+"/"+e.String() }) {
			delete(v.watched, path)
		}
	}
}

// forgetGone keeps only what is known of these reservations: while a lock is held for
// long, many come and go.
func (v *vigil) forgetGone(names []string) {
	there := map[string]bool{}
	for _, name := range names {
		t, _ := v.lock.parseReservation(name)
		there[v.lock.reservation(t)] = true
	}
	maps.DeleteFunc(v.watched, func(at string, _ *watch) bool {
		return !there[at] && !there[path.Dir(at)]
	})
}

// holder describes a sighting for people. Directories tell of times only by the
// server's clock, if at all; the record has the holder's own.
func (s sighting) holder(today time.Time) backend.Holder {
	h := backend.Holder{ID: s.entry.ticket.id, Record: s.record, Note: s.note, Verdict: s.verdict,
		Lease: s.entry.ticket.lease, Sign: s.sign}
	if r := s.record; r != nil {
		h.PID = r.Helper.PID
		h.Age = max(today.Sub(r.Acquired), 0)
	}
	return h
}
