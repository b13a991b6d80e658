package locksmith

import (
	"context"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// TestNoteOfBreak: a loss says who broke the lock, if there is a note of it. Whatever happens to
// the look for the note, the client learns of the loss within half a second. Once the lease is
// over, no loss waits for the note.
func TestNoteOfBreak(t *testing.T) {
	note := &owner.Note{ID: "id", User: "alice", Host: "web1", At: time.Unix(1e9, 0), Forced: true, Reason: "it hung"}
	found := func(context.Context) (*owner.Note, error) { return note, nil }
	goneAt := func(w *world, n int) {
		w.beatErr = func(beat int) error {
			if beat == n {
				return backend.ErrGone
			}
			return nil
		}
	}
	const says = "broken by alice on web1 at 2001-09-09T01:46:40Z, forced: it hung ("
	const nobody = "somebody removed or broke the lock ("
	for name, c := range map[string]struct {
		change func(*world)
		code   protocol.Code
		says   string
		least  time.Duration
		most   time.Duration
	}{
		"a note": {func(w *world) { goneAt(w, 1); w.note = found }, protocol.Gone, says, lease / 4, lease / 4},
		"none":   {func(w *world) { goneAt(w, 1) }, protocol.Gone, nobody, lease / 4, lease / 4},
		"it cannot be read": {func(w *world) {
			goneAt(w, 1)
			w.note = func(context.Context) (*owner.Note, error) { return nil, errServer }
		}, protocol.Gone, nobody, lease / 4, lease / 4},
		"its look hangs": {func(w *world) {
			goneAt(w, 1)
			w.note = func(context.Context) (*owner.Note, error) { time.Sleep(time.Hour); return note, nil }
		}, protocol.Gone, nobody, lease/4 + time.Millisecond, lease/4 + noteTime},
		"the lease is over": {func(w *world) {
			w.kept = true
			goneAt(w, 1)
			time.AfterFunc(lease/8, func() { w.clock.ahead.Add(int64(lease)) })
			w.note = func(context.Context) (*owner.Note, error) { time.Sleep(time.Hour); return note, nil }
		}, protocol.Gone, nobody, lease + lease/4, lease + lease/4},
		"another loss": {func(w *world) {
			w.beatErr = func(int) error { return errServer }
			w.note = found
		}, protocol.Expired, "the lease could not be renewed", lease * 3 / 4, lease * 3 / 4},
		"found at the release": {func(w *world) {
			w.releaseErr = func(int) error { return backend.ErrGone }
			w.note = found
		}, protocol.Gone, says, lease * 5, lease * 5},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, lease*5, Forever, func(w *world, _ *fakeClient) { c.change(w) }, func(_ *world, g *fakeClient, _ time.Duration, err error) {
				if g.lost == nil || CodeOf(err) != c.code || !strings.HasPrefix(g.lost.sentence(), c.says) {
					t.Errorf("the helper ended with %v, and told the client of the loss %v; want code %s and a text that begins with %q", err, g.lost, c.code, c.says)
				}
				if g.lostAt < c.least || g.lostAt > c.most {
					t.Errorf("the client was told of the loss %v after the helper began, want %v to %v (the lease is %v): look at findNote (release.go) and lastMoment (session.go)", g.lostAt, c.least, c.most, lease)
				}
			})
		})
	}
}
