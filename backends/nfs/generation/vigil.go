//go:build unix

package generation

import (
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A vigil watches other people's reservations and decides when one may be
// broken. It remembers what it saw of each.
type vigil struct {
	lock    *Lock
	request backend.Request
	watched map[string]*watched // by path
}

// watched is what is known of one reservation.
type watched struct {
	patience owner.Patience
	record   *owner.Record // nil: not read yet, or not one of ours
	note     string        // why there is no record
}

// A sighting is a reservation as just seen.
type sighting struct {
	ticket ticket
	path   string
	watched
	sight   Sight
	verdict owner.Verdict
	// due is how long the same must still be seen before it may be broken: 0 is
	// now, owner.Never is until something else happens.
	due time.Duration
}

func (l *Lock) newVigil(r backend.Request) *vigil {
	return &vigil{lock: l, request: r, watched: map[string]*watched{}}
}

// look returns what is at path, which ticket t names. Its error is the
// system's; when the reservation is gone it is absent.
func (v *vigil) look(path string, t ticket) (sighting, error) {
	before := v.request.Clock.Now()
	sight, err := v.lock.Dir.Look(path)
	if absent(err) {
		delete(v.watched, path)
		return sighting{}, err
	}
	w := v.of(path)
	if err != nil {
		w.patience.Forget()
		return sighting{}, err
	}
	if w.record == nil {
		w.record, w.note = v.lock.record(t)
	}
	s := sighting{ticket: t, path: path, sight: sight, verdict: owner.VerdictOn(w.record, v.lock.Judge)}
	// The lease is the ticket's: the record may be missing or somebody's joke.
	s.due = w.patience.Look(before, sight.Sign, s.verdict == owner.Dead, t.lease)
	s.watched = *w
	return s, nil
}

func (v *vigil) of(path string) *watched {
	w := v.watched[path]
	if w == nil {
		w = &watched{patience: owner.Patience{Clock: v.request.Clock, Strict: v.request.Strict, Respite: v.request.Respite}}
		v.watched[path] = w
	}
	return w
}

// forgetBut keeps only what is known of these names in Reservations, and of what
// is in them. The names are sorted.
func (v *vigil) forgetBut(names []string) {
	for path := range v.watched {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, Reservations+"/"), "/")
		if _, there := slices.BinarySearch(names, name); !there {
			delete(v.watched, path)
		}
	}
}

// forgetMembers keeps only what is known of these members of a reservation.
func (v *vigil) forgetMembers(e entry, names []string) {
	for path := range v.watched {
		name, inside := strings.CutPrefix(path, e.path()+"/")
		if inside && !slices.Contains(names, name) {
			delete(v.watched, path)
		}
	}
}

// record reads who has a ticket; without a record the note says why.
func (l *Lock) record(t ticket) (*owner.Record, string) {
	text, err := l.Dir.Readlink(t.record())
	if absent(err) {
		return nil, "it has no record"
	}
	if err != nil {
		return nil, "its record cannot be read: " + err.Error()
	}
	r, err := owner.ParseRecord(strings.TrimSuffix(text, "\n") + "\n")
	if err != nil || r.ID != t.id {
		return nil, "its record is not one of ours"
	}
	return &r, ""
}

// holder describes a sighting for people.
func (s sighting) holder(today time.Time) backend.Holder {
	h := backend.Holder{ID: s.ticket.id, Record: s.record, Note: s.note, Verdict: s.verdict,
		Lease: s.ticket.lease, Sign: s.sight.Sign,
		Age:       max(today.Sub(time.UnixMicro(s.ticket.at)), 0),
		Heartbeat: max(today.Sub(s.sight.Modified), 0)}
	if r := s.record; r != nil {
		h.PID = r.Helper.PID
	}
	return h
}
