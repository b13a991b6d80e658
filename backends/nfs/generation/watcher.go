//go:build unix

package generation

import (
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A watcher watches other people's reservations.
type watcher struct {
	*watch.Watcher
	lock *Lock
}

// An observation is a reservation as just seen.
type observation struct {
	watch.Observation
	ticket ticket
	path   string
}

func (l *Lock) newWatcher(r backend.Request) watcher { return watcher{watch.New(r), l} }

// look returns what is at path, which ticket t names. Its error is the
// system's; when the reservation is gone it is absent.
func (w watcher) look(path string, t ticket) (observation, error) {
	seen, err := w.Look(path, func(last watch.Seen) (watch.Seen, error) { return w.see(path, t, last) })
	return observation{seen, t, path}, err
}

// see reads a record once only: it never changes.
func (w watcher) see(path string, t ticket, last watch.Seen) (watch.Seen, error) {
	sight, err := w.lock.Dir.Look(path)
	if err != nil {
		return watch.Seen{}, err
	}
	s := watch.Seen{ID: t.id, Sign: sight.Sign, Lasting: watch.IsFine(sight.Modified), Lease: t.lease, Since: time.UnixMicro(t.at), Beat: sight.Modified,
		Record: last.Record, Note: last.Note}
	if s.Record == nil {
		s.Record, s.Note = w.lock.record(t)
	}
	s.Verdict = w.lock.Verdict(s.Record)
	// The lease is the ticket's: the record may be missing or forged.
	s.Rules = []watch.Rule{w.Rule(s.Verdict, max(t.lease, w.lock.LeastLease))}
	return s, nil
}

// keepOnly keeps only what is known of these names in Reservations, and of what
// is in them. The names are sorted.
func (w watcher) keepOnly(names []string) {
	w.Keep(func(path string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, Reservations+"/"), "/")
		_, there := slices.BinarySearch(names, name)
		return there
	})
}

// keepMembers keeps only what is known of these members of a reservation, and of all
// that is elsewhere.
func (w watcher) keepMembers(e entry, names []string) {
	w.Keep(func(path string) bool {
		name, inside := strings.CutPrefix(path, e.path()+"/")
		return !inside || slices.Contains(names, name)
	})
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
	return owner.RecordOf(t.id, strings.TrimSuffix(text, "\n")+"\n")
}
