package mkdirlock

import (
	"context"
	"errors"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/success"
	"locksmith/backends/watch"
)

// Inspect implements backend.Backend.
func (l *Lock) Inspect(ctx context.Context) (backend.Report, error) {
	dir := l.NewDir()
	defer dir.Close()
	i := inspection{lock: l, others: l.newOthers(dir, backend.Request{Clock: clock.Boot{}})}
	err := i.look(ctx, dir)
	return i.report, err
}

// An inspection is one look at everything.
type inspection struct {
	lock   *Lock
	others watch.Others[spot]
	report backend.Report
}

func (i *inspection) look(ctx context.Context, dir Dir) error {
	l := i.lock
	around, _ := l.around()
	names, err := dir.List(ctx, around)
	if refused(err) && l.Style == TreeStyle {
		// It was never used; or we may not look.
		there, err2 := l.exists(ctx, dir, l.Name)
		switch {
		case err2 != nil:
			return l.fail("list the lock directory", errors.Join(err, err2))
		case !there:
			return nil
		}
		names, err = dir.List(ctx, around) // it may have come meanwhile
	}
	if refused(err) {
		names, err = listedOtherwise(ctx, dir, around, err)
	}
	if err != nil {
		return l.fail("list the directory of the lock", err)
	}
	return i.all(ctx, dir, names)
}

// all sees who holds the lock and who waits: names are those in the directory around.
func (i *inspection) all(ctx context.Context, dir Dir, names []string) error {
	lock := i.lock.Name
	if i.lock.Style == TreeStyle {
		lock, i.report.Token = treeLock, newestOf(fencesIn(names))
		i.report.Success, _ = success.Last(ctx, successes{marks: successesIn(names)}, i.lock.Today())
		i.note(names)
	}
	if slices.Contains(names, lock) {
		if err := i.entries(ctx, dir); err != nil {
			return err
		}
	}
	return i.reservations(ctx, names)
}

// listedOtherwise lists a directory that was refused: some servers do that with an
// empty one when asked for names alone.
func listedOtherwise(ctx context.Context, dir Dir, at string, cause error) (names []string, err error) {
	stat, ok := dir.(StatDir)
	if !ok {
		return nil, cause
	}
	entries, err := stat.Entries(ctx, at)
	if err != nil {
		return nil, cause
	}
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names, nil
}

// entries sees who holds the lock.
func (i *inspection) entries(ctx context.Context, dir Dir) error {
	l := i.lock
	names, err := l.namesIn(ctx, dir, l.lock(), "list the lock directory")
	if err != nil {
		return err
	}
	return i.holders(ctx, names)
}

// holders sees whose entries are among the names in the lock's directory.
func (i *inspection) holders(ctx context.Context, names []string) error {
	l := i.lock
	entries := entriesIn(names)
	if len(entries) == 0 && (l.Style == PlainStyle || len(names) > 0) {
		i.report.Holders = append(i.report.Holders, nobody(names, false))
	}
	alone := slices.ContainsFunc(entries, func(e entry) bool { return e.kind == exclusive })
	for _, e := range entries {
		to := &i.report.Holders
		if alone && e.kind == shared {
			to = &i.report.Waiters
		}
		if err := i.see(ctx, to, l.lock(), e); err != nil {
			return err
		}
	}
	return nil
}

// reservations sees who waits.
func (i *inspection) reservations(ctx context.Context, names []string) error {
	for _, t := range i.lock.reservationsIn(names) {
		if err := i.see(ctx, &i.report.Waiters, i.lock.reservation(t), entry{exclusive, t}); err != nil {
			return err
		}
	}
	return nil
}

// see adds an entry, if it still is there.
func (i *inspection) see(ctx context.Context, to *[]backend.Holder, at string, e entry) error {
	s, err := i.others.Look(ctx, spot{at: at, entry: e})
	switch {
	case errors.Is(err, errAbsent):
		return nil
	case err != nil:
		return err
	}
	h := s.Holder(i.lock.Today())
	if at != i.lock.lock() {
		h.Silence = i.lock.waiterBeats(e.ticket)
	}
	*to = append(*to, h)
	return nil
}

// nobody describes a lock without an entry of ours.
func nobody(names []string, doubt bool) backend.Holder {
	h := backend.Holder{Verdict: owner.Unknown}
	switch {
	case len(fencesIn(names)) > 0 || slices.Contains(names, treeLock):
		h.Note, h.Advice = "it is a lock with ?style=dir", "add ?style=dir to the address"
		h.Blocked = true
	case len(names) > 0:
		h.Note, h.Advice = "what is in it is not ours, such as "+backend.Quoted(names[0]), "choose another name, or find out whose it is"
		h.Blocked = true
	case doubt:
		h.Note = "an empty directory, perhaps our own: the answer to our request was lost"
		h.Advice = "if nobody uses the lock, remove it with locksmith reap"
	default:
		h.Note = "an empty directory: the lock of a program that uses mkdir alone, or what is left of one"
		h.Advice = "by age it can be removed with locksmith reap"
	}
	return h
}
