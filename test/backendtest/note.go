package backendtest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// notes: the holder that lost its lock, and people, are told who broke it by hand. The note stays
// until a later holder has seen it for the lease of the one that lost. Only a few notes are ever
// kept.
func notes(t *testing.T, f Fixture) {
	b := f.Open()
	h := take(t, f, Request())
	if !keepsNotes(t, b) {
		MustRelease(t, h)
		return
	}
	keep := func(n owner.Note) error { return shelf.KeepNote(t.Context(), b.(shelf.Keeper), "", n) }
	MustWork(t, BreakID(t.Context(), b, h.ID()))
	MustBeLost(t, h)
	note := owner.Note{ID: h.ID(), Lease: Request().Owner.Lease, User: "alice", Host: "web1", At: time.Unix(1e9, 0).UTC(), Forced: true,
		Reason: "the host is gone\x1b[2J" + strings.Repeat(", gone", 100)}
	if n := noteOf(t, b, h); n != nil {
		t.Errorf("a note before there is one: %v", n)
	}
	if n := report(t, f).Broken; n != nil {
		t.Errorf("seen before there is one: %v", n)
	}
	MustWork(t, keep(note))
	MustWork(t, keep(note)) // as if the answer to the first was lost
	const says = "broken by alice on web1 at 2001-09-09T01:46:40Z, forced: the host is gone?[2J, gone"
	for _, n := range []*owner.Note{noteOf(t, b, h), report(t, f).Broken} {
		if n == nil || n.ID != note.ID || !strings.HasPrefix(n.String(), says) || len(n.Reason) > 200 {
			t.Errorf("the note is %v, want %s…", n, says)
		}
	}
	if r := report(t, f); len(r.Holders)+len(r.Waiters) > 0 {
		t.Errorf("somebody is seen: %+v", r)
	}
	others := plantNotes(t, f, keep, note)
	next := take(t, f, Request())
	MustWork(t, next.Tend(t.Context()))
	if n := noteOf(t, b, h); n == nil {
		t.Error("the note is gone before its time")
	}
	tendUntilGone(t, f, next, others)
	MustRelease(t, next)
	mustBeRemovable(t, f, b)
}

// keepsNotes reports whether a kind has a place for notes. It leaves none there.
func keepsNotes(t *testing.T, b backend.Backend) bool {
	t.Helper()
	k, ok := b.(shelf.Keeper)
	if !ok {
		return false
	}
	err := shelf.KeepNote(t.Context(), k, "", owner.Note{ID: owner.NewID(), Lease: owner.MinLease})
	if errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	MustWork(t, err, k.OnShelf(t.Context(), nil, func(s shelf.Shelf) error {
		all, err := s.List(t.Context())
		return errors.Join(err, shelf.Forget(t.Context(), s, all))
	}))
	return true
}

func noteOf(t *testing.T, b backend.Backend, h backend.Hold) *owner.Note {
	t.Helper()
	n, err := shelf.NoteOf(t.Context(), b, h, Request().Owner.Lease)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// plantNotes adds more notes, of short leases, than are kept, and returns the ids of the notes
// that are there then. All but the last are older than n. n and the newest others stay, and
// Read shows the last one.
func plantNotes(t *testing.T, f Fixture, keep func(owner.Note) error, n owner.Note) (kept []string) {
	t.Helper()
	n.Lease = owner.MinLease
	n.At = n.At.Add(-2 * (owner.MaxNotes - 1) * time.Second)
	var all []string
	for range 2 * owner.MaxNotes {
		n.ID, n.At = owner.NewID(), n.At.Add(time.Second)
		all = append(all, n.ID)
		MustWork(t, keep(n))
	}
	left := f.Leftovers()
	for _, id := range all {
		if slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, id) }) {
			kept = append(kept, id)
		}
	}
	if want := all[len(all)-(owner.MaxNotes-1):]; !slices.Equal(kept, want) {
		t.Errorf("notes that are kept: %q, want the newest: %q", kept, want)
	}
	if seen := report(t, f).Broken; seen == nil || seen.ID != n.ID {
		t.Errorf("seen: %v, want the last", seen)
	}
	return kept
}

// tendUntilGone lets a holder see notes for their lease.
func tendUntilGone(t *testing.T, f Fixture, h backend.Hold, ids []string) {
	t.Helper()
	for start := time.Now(); time.Since(start) < patience; time.Sleep(20 * time.Millisecond) {
		MustWork(t, h.Heartbeat(t.Context()), h.Tend(t.Context()))
		left := f.Leftovers()
		if !slices.ContainsFunc(ids, func(id string) bool {
			return slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, id) })
		}) {
			return
		}
	}
	t.Errorf("notes of old breaks stay: %q", f.Leftovers())
}
