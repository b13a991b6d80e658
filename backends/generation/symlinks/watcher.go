//go:build unix

package symlinks

import (
	"context"
	"slices"
	"strings"
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A spot is what a ticket names: a reservation, a member, or a record.
type spot struct {
	path   string
	ticket ticket
}

func (s spot) String() string { return s.path }

type observation = watch.Observed[spot]

// see reads a record only once, because it never changes. Its error is the system's. When the
// reservation is gone, the error is absent.
func (l *Lock) see(ctx context.Context, w *watch.Watcher, at *spot, last watch.Seen) (watch.Seen, error) {
	sight, err := l.Dir.Look(ctx, at.path)
	if err != nil {
		return watch.Seen{}, err
	}
	t := at.ticket
	//rule:sign
	s := watch.Seen{ID: t.id, Sign: sight.Sign, Lasting: watch.IsFine(sight.Modified), Lease: t.lease, Since: time.UnixMicro(t.at), Beat: sight.Modified,
		Record: last.Record, Note: last.Note}
	if s.Record == nil {
		if s.Record, s.Note = l.record(ctx, t); s.Record != nil && l.OwnUsers {
			s.Record.Keeper = sight.User
		}
	}
	s.Verdict = l.Verdict(s.Record)
	// The lease is the ticket's, because the record may be missing or forged.
	s.Rules = []watch.Rule{w.Rule(s.Verdict, max(t.lease, l.LeastLease))}
	//rule:clock
	return s, nil
}

// within tells the paths of these names in Reservations, and of what is in them, from others.
// The names are sorted.
func within(names []string) func(path string) bool {
	return func(path string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, Reservations+"/"), "/")
		_, there := slices.BinarySearch(names, name)
		return there
	}
}

// noOther tells the paths of other members of a reservation than these from all others.
func noOther(e entry, names []string) func(path string) bool {
	return func(path string) bool {
		name, inside := strings.CutPrefix(path, e.path()+"/")
		return !inside || slices.Contains(names, name)
	}
}

// record reads who has a ticket. Without a record the note says why.
func (l *Lock) record(ctx context.Context, t ticket) (*owner.Record, string) {
	text, err := l.Dir.Readlink(ctx, t.record())
	if absent(err) {
		return nil, "it has no record"
	}
	if err != nil {
		return nil, "its record cannot be read: " + err.Error()
	}
	return owner.RecordOf(t.id, strings.TrimSuffix(text, "\n")+"\n")
}
