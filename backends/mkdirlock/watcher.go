package mkdirlock

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

// bareTime is how long a bare entry in the lock, one in which there is nothing, is left to its
// owner. An entry is bare until its first heartbeat, before which its helper does not say OK; and
// while it is being removed, when its owner relies on it no more. So nobody holds the lock by a
// bare entry, even if its owner is not proven dead.
const bareTime = 5 * time.Second

// A spot is where an entry of somebody else is.
type spot struct {
	at     string
	entry  labels.Entry
	inside []string // what a look found in it
}

func (s spot) String() string { return s.at + "/" + s.entry.String() }

type observation = watch.Observed[spot]

// overIn is for how long the entry must yet be seen unchanged until it may be emptied, because
// its owner is proven dead or its lease is over. If only Due is over, the entry may be removed if
// it is still bare, but not emptied.
func overIn(s observation) time.Duration {
	if len(s.By) == 0 {
		return watch.Never
	}
	return s.By[0]
}

func (l *Lock) newOthers(dir dirs.Dir, r backend.Request) watch.Others[spot] {
	return watch.NewOthers(r, func(ctx context.Context, w *watch.Watcher, s *spot, _ watch.Seen) (seen watch.Seen, err error) {
		seen, s.inside, err = l.see(ctx, dir, w, s.at, s.entry)
		return seen, err
	})
}

// see looks at an entry. dirs.ErrAbsent means that it seems to be gone.
func (l *Lock) see(ctx context.Context, dir dirs.Dir, w *watch.Watcher, at string, e labels.Entry) (watch.Seen, []string, error) {
	names, err := dir.List(ctx, at+"/"+e.String())
	if dirs.Refused(err) || err == nil && len(names) == 0 && l.disk(dir) == nil {
		// Some servers refuse to list what is empty, and some list as empty what is missing.
		var there bool
		if there, err = l.exists(ctx, dir, at+"/"+e.String()); err == nil && !there {
			err = dirs.ErrAbsent
		}
	}
	switch {
	case errors.Is(err, dirs.ErrAbsent):
		return watch.Seen{}, nil, dirs.ErrAbsent
	case err != nil && dirs.Passing(err):
		return watch.Seen{}, nil, l.fail("look at an entry", err)
	case err != nil:
		// The entry may be a holder's all the same.
		return watch.Seen{ID: e.Ticket.ID, Lease: e.Ticket.Lease, Note: "it cannot be looked at: " + err.Error(), Verdict: owner.Unknown}, nil, nil
	}
	s := l.seen(e, names)
	s.Lasting = s.Lasting && at == l.lock() // a waiter may be silent for as long as its lease
	// The lease is the ticket's: the record may be missing or forged.
	s.Rules = []watch.Rule{w.Rule(s.Verdict, e.Ticket.Lease)}
	if len(names) == 0 {
		s.Rules = append(s.Rules, watch.Rule{Lease: min(e.Ticket.Lease/2, bareTime)})
	}
	return s, names, nil
}

// seen is what these names in an entry tell. The times are the record's, by the holder's clock:
// directories have times by the server's clock alone, if at all.
func (l *Lock) seen(e labels.Entry, inside []string) watch.Seen {
	s := watch.Seen{ID: e.Ticket.ID, Lease: e.Ticket.Lease}
	s.Record, s.Note = labels.RecordIn(inside, e.Ticket.ID)
	s.Verdict = l.Verdict(s.Record)
	if s.Record != nil {
		s.Since = s.Record.Acquired
	}
	// The number alone tells which heartbeat is the latest: the rest of the name may be anything. A
	// listing may miss a name while it is renamed; then the watch starts again.
	beat, _ := labels.LatestBeat(inside)
	//rule:sign
	s.Sign = "beat " + beat
	s.Lasting = beat != "" // the number only rises
	return s
}

// oneOf returns whether a path is that of one of these entries.
func oneOf(at string, entries []labels.Entry) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(entries, func(e labels.Entry) bool { return path == at+"/"+e.String() })
	}
}

// present returns whether a path is watched for one of these reservations or slips. Others need
// no watch any more: while a lock is held for long, many come and go.
func (l *Lock) present(all []labels.Ticket, slips []shelf.Slip) func(at string) bool {
	there := map[string]bool{}
	for _, t := range all {
		there[l.reservation(t)] = true
	}
	for _, s := range slips {
		there[s.Name] = true
	}
	return func(at string) bool { return there[at] || there[path.Dir(at)] }
}
