package objects

import (
	"context"
	"slices"
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

type observation = watch.Observed[ticket]

// see returns what a reservation and its heartbeat show: two requests. It reads a record only
// once, because it never changes. Its error is the store's. When the reservation is gone, it is
// ErrAbsent.
func (l *Lock) see(ctx context.Context, w *watch.Watcher, of *ticket, last watch.Seen) (watch.Seen, error) {
	t := *of
	record, note := last.Record, last.Note
	var made Object
	var err error
	if record == nil {
		var content []byte
		if made, content, err = l.Store.Get(ctx, t.reservation()); err == nil {
			record, note = owner.RecordOf(t.id, string(content))
		}
	} else {
		made, err = l.sure(ctx, t.reservation())
	}
	//rule:unseen
	if err != nil {
		return watch.Seen{}, err
	}
	beat, _, err := l.Store.Get(ctx, t.beat()) // a look would not prove that there is none
	//rule:no-beat
	if absent(err) {
		beat, err = made, nil
	}
	if err != nil {
		return watch.Seen{}, err
	}
	s := l.seen(t, beat)
	s.Record, s.Note, s.Verdict = record, note, l.Verdict(record)
	s.Rules = []watch.Rule{w.Rule(s.Verdict, t.lease)} // the record may be forged
	return s, nil
}

// seen is what a ticket and its last sign of life show.
func (l *Lock) seen(t ticket, beat Object) watch.Seen {
	return watch.Seen{ID: t.id, Sign: sign(beat), Lease: t.lease, Since: time.UnixMicro(t.at), Beat: beat.Modified}
}

// sign changes with every heartbeat.
func sign(o Object) string {
	//rule:sign
	return o.Key + " " + o.Tag + " " + o.Modified.UTC().Format(time.RFC3339Nano)
}

// watches tells the names by which a listing's reservations and slips are watched from others.
func (v view) watches(name string) bool {
	return slices.ContainsFunc(v.slips, func(s shelf.Slip) bool { return s.Name == name }) || slices.ContainsFunc(v.queue, func(p place) bool { return p.ticket.String() == name })
}
