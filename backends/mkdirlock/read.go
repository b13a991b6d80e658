package mkdirlock

import (
	"context"
	"errors"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

// Read implements backend.Backend.
func (l *Lock) Read(ctx context.Context) (backend.Report, error) {
	dir := l.NewDir()
	defer dir.Close()
	return l.sure(dir, func(i *inspection) error { return i.look(ctx, dir) })
}

// sure looks at the lock until it is sure who has it. A look takes several calls. If the lock goes
// from hand to hand between them, it seems free, or that of nobody known. That counts only if two
// looks in a row are alike, or after as many as backend.Races.
func (l *Lock) sure(dir dirs.Dir, look func(*inspection) error) (backend.Report, error) {
	var before *inspection
	for range backend.Races {
		i := l.inspection(dir)
		err := look(i)
		if err != nil || i.known() || !i.gone || before != nil && alike(i, before) {
			return i.report, err
		}
		before = i
	}
	return before.report, nil
}

// known reports that somebody known was seen to have the lock.
func (i *inspection) known() bool {
	return slices.ContainsFunc(i.report.Holders, func(h backend.Holder) bool { return h.Record != nil })
}

// alike reports that two looks saw the same holders and as many waiters, and missed the same entries:
// if each missed another one, somebody had the lock all along.
func alike(i, j *inspection) bool {
	same := func(x, y backend.Holder) bool { return x.ID == y.ID && x.Note == y.Note }
	return i.report.Token == j.report.Token && len(i.report.Waiters) == len(j.report.Waiters) &&
		slices.EqualFunc(i.report.Holders, j.report.Holders, same) && slices.Equal(i.missed, j.missed)
}

// An inspection is one look at everything.
type inspection struct {
	lock   *Lock
	dir    dirs.Dir
	others watch.Others[spot]
	report backend.Report
	age    func(context.Context) time.Duration // since the lock's directory last changed, at least; 0: not known
	gone   bool                                // what was listed may be gone
	missed []labels.Entry                      // entries that were gone when it was their turn
}

func (l *Lock) inspection(dir dirs.Dir) *inspection {
	age := func(ctx context.Context) time.Duration { return dirs.AgeHere(entryAt(ctx, dir, l.lock()), l.Today()) }
	return &inspection{lock: l, dir: dir, report: backend.Report{Shelved: true}, others: l.newOthers(dir, backend.Request{Clock: clock.Boot{}}), age: age}
}

func (i *inspection) look(ctx context.Context, dir dirs.Dir) error {
	l := i.lock
	around, _ := l.around()
	names, err := dir.List(ctx, around)
	if dirs.Refused(err) && l.Style == DirStyle {
		// The lock was never used; or we may not look.
		there, err2 := l.exists(ctx, dir, l.Name)
		switch {
		case err2 != nil:
			return l.fail("list the lock directory", errors.Join(err, err2))
		case !there:
			return nil
		}
		names, err = dir.List(ctx, around) // it may have come meanwhile
	}
	if dirs.Refused(err) {
		names, err = listedOtherwise(ctx, dir, around, err)
	}
	i.report.Stays = len(names) > 0
	if err == nil && len(names) == 0 && l.Style == DirStyle { // some servers list so what is not there
		i.report.Stays, err = l.exists(ctx, dir, l.Name)
	}
	if err != nil {
		return l.fail("list the directory of the lock", err)
	}
	return i.all(ctx, dir, names)
}

// all sees who holds the lock and who waits: names are those in the directory around.
func (i *inspection) all(ctx context.Context, dir dirs.Dir, names []string) error {
	lock := i.lock.Name
	if i.lock.Style == DirStyle {
		lock, i.report.Token = labels.LockName, labels.FencesIn(names).Newest()
		beside, _ := i.lock.slips(dir, names)
		shelf.Tell(ctx, beside, &i.report, i.lock.Today())
	}
	if slices.Contains(names, lock) {
		if err := i.entries(ctx, dir); err != nil {
			return err
		}
	}
	return i.reservations(ctx, names)
}

// listedOtherwise lists a directory with times after its names were refused: some servers refuse
// to list the names alone of an empty one.
func listedOtherwise(ctx context.Context, dir dirs.Dir, at string, cause error) (names []string, err error) {
	stat, ok := dir.(dirs.StatDir)
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
func (i *inspection) entries(ctx context.Context, dir dirs.Dir) error {
	l := i.lock
	names, err := dir.List(ctx, l.lock())
	onDisk := l.disk(dir) != nil
	switch {
	case dirs.Refused(err) && onDisk:
		return nil // it has gone
	case err != nil && !dirs.Refused(err):
		return l.fail("list the lock directory", err)
	}
	i.gone = len(names) == 0 && !onDisk // see Lock.see
	return i.holders(ctx, names)
}

// holdersNow sees who holds the lock, if its directory is there: some servers list one that is
// missing as empty, and some refuse to list an empty one.
func (i *inspection) holdersNow(ctx context.Context) error {
	names, err := i.dir.List(ctx, i.lock.lock())
	if dirs.Refused(err) || err == nil && len(names) == 0 {
		var there bool
		if there, err = i.lock.exists(ctx, i.dir, i.lock.lock()); err == nil && !there {
			return nil
		}
	}
	if err != nil {
		return i.lock.fail("list the lock directory", err)
	}
	return i.holders(ctx, names)
}

// holders sees whose entries are among the names in the lock's directory.
func (i *inspection) holders(ctx context.Context, names []string) error {
	l := i.lock
	entries := labels.EntriesIn(names)
	if len(entries) == 0 && (l.Style == PlainStyle || len(names) > 0) {
		there := i.lock.nobody(names, false)
		if len(names) == 0 {
			there.Age = i.age(ctx)
		}
		i.report.Holders = append(i.report.Holders, there)
	}
	alone := slices.ContainsFunc(entries, func(e labels.Entry) bool { return e.Kind == labels.Exclusive })
	for _, e := range entries {
		to := &i.report.Holders
		if alone && e.Kind == labels.Shared {
			to = &i.report.Waiters
		}
		there, err := i.see(ctx, to, l.lock(), e)
		if err != nil {
			return err
		}
		if !there {
			i.gone, i.missed = true, append(i.missed, e)
		}
	}
	return nil
}

// reservations sees who waits. A reservation that has gone may be the lock by now.
func (i *inspection) reservations(ctx context.Context, names []string) error {
	for _, t := range i.lock.reservationsIn(names) {
		e := labels.Entry{Kind: labels.Exclusive, Ticket: t}
		there, err := i.see(ctx, &i.report.Waiters, i.lock.reservation(t), e)
		if err == nil && !there && !i.known() {
			_, err = i.see(ctx, &i.report.Holders, i.lock.lock(), e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// see adds an entry, if it still is there.
func (i *inspection) see(ctx context.Context, to *[]backend.Holder, at string, e labels.Entry) (there bool, err error) {
	s, err := i.others.Look(ctx, spot{at: at, entry: e})
	switch {
	case errors.Is(err, dirs.ErrAbsent):
		return false, nil
	case err != nil:
		return false, err
	}
	if on, ok := i.dir.(dirs.Owned); ok && s.Record != nil {
		s.Record.Keeper = on.Stat(at + "/" + e.String()).User
	}
	var h backend.Holder
	if at == i.lock.lock() {
		h = i.holder(ctx, s)
	} else {
		h = s.Holder(i.lock.Today())
		h.Silence = i.lock.waiterBeats(e.Ticket)
	}
	h.Entry = spot{at: at, entry: e}
	*to = append(*to, h)
	return true, nil
}
