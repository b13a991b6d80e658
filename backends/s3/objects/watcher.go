package objects

import (
	"context"
	"slices"
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
}

func (l *Lock) newWatcher(r backend.Request) watcher { return watcher{watch.New(r), l} }

// look returns what a reservation and its heartbeat show: two requests. Its error is the
// store's; when the reservation is gone it is ErrAbsent.
func (w watcher) look(ctx context.Context, t ticket) (observation, error) {
	o, err := w.Look(t.String(), func(last watch.Seen) (watch.Seen, error) { return w.see(ctx, t, last) })
	return observation{o, t}, err
}

// see reads a record once only: it never changes.
func (w watcher) see(ctx context.Context, t ticket, last watch.Seen) (watch.Seen, error) {
	record, note := last.Record, last.Note
	var made Object
	var err error
	if record == nil {
		var content []byte
		if made, content, err = w.lock.Store.Get(ctx, t.reservation()); err == nil {
			record, note = owner.RecordOf(t.id, string(content))
		}
	} else {
		made, err = w.lock.sure(ctx, t.reservation())
	}
	if err != nil {
		return watch.Seen{}, err
	}
	beat, _, err := w.lock.Store.Get(ctx, t.beat()) // a look would not prove that there is none
	if absent(err) {
		beat, err = made, nil
	}
	if err != nil {
		return watch.Seen{}, err
	}
	s := w.lock.seen(t, beat)
	s.Record, s.Note, s.Verdict = record, note, w.lock.Verdict(record)
	s.Rules = []watch.Rule{w.Rule(s.Verdict, t.lease)} // the record may be forged
	return s, nil
}

// seen is what a ticket and its last sign of life show.
func (l *Lock) seen(t ticket, beat Object) watch.Seen {
	return watch.Seen{ID: t.id, Sign: sign(beat), Lease: t.lease, Since: time.UnixMicro(t.at), Beat: beat.Modified}
}

// sign changes with every heartbeat.
func sign(o Object) string {
	return o.Key + " " + o.Tag + " " + o.Modified.UTC().Format(time.RFC3339Nano)
}

// keepOnly keeps only what is known of the reservations and the notes in a listing.
func (w watcher) keepOnly(v view) {
	w.Keep(func(name string) bool {
		return slices.ContainsFunc(v.notes, func(o Object) bool { return o.Key == name }) || slices.ContainsFunc(v.queue, func(p place) bool { return p.ticket.String() == name })
	})
}
