package mkdirlock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/success"
)

// successes are the successes among the names that a listing showed.
type successes struct {
	hold    *hold // ours; nil: for whoever only reads their names
	marks   []success.Mark
	entries []dirs.Entry // with the server's times; nil: nobody needs them
	now     dirs.Entry   // that we have just made there
}

// List implements success.Store.
func (s successes) List(context.Context) ([]success.Mark, error) { return s.marks, nil }

// Read implements success.Store.
func (s successes) Read(_ context.Context, m *success.Mark) error {
	i := slices.IndexFunc(s.entries, func(e dirs.Entry) bool { return e.Name == m.Name })
	if i < 0 {
		return nil
	}
	e := s.entries[i]
	if e.Modified.IsZero() {
		return s.hold.lock.fail("look at the last success", errors.New("its time is not known"))
	}
	now := s.now.Modified
	ago := dirs.Age(e, now)
	if d := now.Sub(e.Modified); d < 0 && (e.Precise || d < -clockStep) {
		ago = d
	}
	_, ownUsers := s.hold.dir.(dirs.Rooted)
	m.At, m.By = now.Add(-ago), owner.Stranger(e.User, s.now.User, ownUsers)
	return nil
}

// clockStep is by how much local times to the minute may go back by themselves when summer time
// ends.
const clockStep = time.Hour + time.Minute

// Write implements success.Store.
func (s successes) Write(ctx context.Context, n uint64) (success.Mark, error) {
	l, dir := s.hold.lock, s.hold.dir
	host := cmp.Or(s.hold.claim.record.Place.Host, "?")
	m := success.Mark{Name: labels.Succeeded{Number: n, ID: s.hold.ID(), At: l.Today().Unix(), Host: host[:min(len(host), labels.MaxHost)]}.String(), Number: n}
	at := l.Name + "/" + m.Name
	if err := dir.Mkdir(ctx, at); err != nil {
		if there, _ := l.exists(ctx, dir, at); !there {
			return m, l.fail("record the success", err)
		}
	}
	return m, nil
}

// Remove implements success.Store.
func (s successes) Remove(ctx context.Context, m success.Mark) error {
	_ = s.hold.dir.Rmdir(ctx, s.hold.lock.Name+"/"+m.Name) // the next one tries again
	return nil
}

var _ backend.SuccessKeeper = DirStyleLock{}

// LastSuccess implements backend.SuccessKeeper.
func (l DirStyleLock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	dir, ok := h.dir.(dirs.StatDir)
	if !ok {
		return nil, l.Address.Usage("look for the last success", "this place does not tell times", "use another kind of lock")
	}
	// Others take the probe for an empty reservation and nothing else.
	entries, now, err := dirs.ListWithNow(ctx, dir, l.Name, labels.ReservationPrefix+labels.Ticket{Lease: owner.MinLease, ID: l.NewID()}.String(), l.fail)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return success.Last(ctx, successes{hold: h, marks: labels.SuccessesIn(names), entries: entries, now: now}, now.Modified)
}

// RecordSuccess implements backend.SuccessKeeper.
func (l DirStyleLock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	names, err := h.dir.List(ctx, l.Name)
	if err != nil {
		return l.fail("record the success", err)
	}
	before := labels.SuccessesIn(names)
	return success.Record(ctx, successes{hold: h, marks: before}, success.Newest(before).Number+1)
}
