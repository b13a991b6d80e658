package backendtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// notes: the holder that lost its lock, and people, are told who broke it by hand. The note stays
// until a later holder has seen it for the lease of the one that lost. Only a few notes are ever
// kept.
func notes(t *testing.T, f Fixture) {
	b := f.Open()
	keeper, keeps := b.(backend.NoteKeeper)
	if !keeps {
		return
	}
	h := take(t, f, Request())
	MustWork(t, b.Break(t.Context(), h.ID()))
	MustBeLost(t, h)
	note := owner.Note{ID: h.ID(), Lease: Request().Owner.Lease, User: "alice", Host: "web1", At: time.Unix(1e9, 0).UTC(), Forced: true,
		Reason: "the host is gone\x1b[2J" + strings.Repeat(", gone", 100)}
	if n := noteOf(t, h); n != nil {
		t.Errorf("a note before there is one: %v", n)
	}
	if n := report(t, f).Broken; n != nil {
		t.Errorf("seen before there is one: %v", n)
	}
	MustWork(t, keeper.KeepNote(t.Context(), note))
	MustWork(t, keeper.KeepNote(t.Context(), note)) // as if the answer to the first was lost
	const says = "broken by alice on web1 at 2001-09-09T01:46:40Z, forced: the host is gone?[2J, gone"
	for _, n := range []*owner.Note{noteOf(t, h), report(t, f).Broken} {
		if n == nil || n.ID != note.ID || !strings.HasPrefix(n.String(), says) || len(n.Reason) > 200 {
			t.Errorf("the note is %v, want %s…", n, says)
		}
	}
	if r := report(t, f); len(r.Holders)+len(r.Waiters) > 0 {
		t.Errorf("somebody is seen: %+v", r)
	}
	others := plantNotes(t, f, keeper, note)
	next := take(t, f, Request())
	MustWork(t, next.Tend(t.Context()))
	if n := noteOf(t, h); n == nil {
		t.Error("the note is gone before its time")
	}
	tendUntilGone(t, f, next, others)
	MustRelease(t, next)
	mustBeRemovable(t, f, b)
}

func noteOf(t *testing.T, h backend.Hold) *owner.Note {
	t.Helper()
	noted, ok := h.(backend.NotedHold)
	if !ok {
		t.Fatal("whoever lost the lock cannot look for a note")
	}
	n, err := noted.Note(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// plantNotes adds more notes, of short leases, than are kept, and returns the ids of the notes
// that are there then. All but the last are older than n. n and the newest others stay, and
// Inspect shows the last one.
func plantNotes(t *testing.T, f Fixture, keeper backend.NoteKeeper, n owner.Note) (kept []string) {
	t.Helper()
	n.Lease = owner.MinLease
	n.At = n.At.Add(-2 * (owner.MaxNotes - 1) * time.Second)
	var all []string
	for range 2 * owner.MaxNotes {
		n.ID, n.At = owner.NewID(), n.At.Add(time.Second)
		all = append(all, n.ID)
		MustWork(t, keeper.KeepNote(t.Context(), n))
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
