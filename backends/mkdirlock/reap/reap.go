// Package reap removes what is left over in a directory of locks: locks whose holders have died
// or been silent for long, old empty locks, and what waiters that are gone, or a killed doctor, have
// left.
package reap

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A Place is a directory of locks, and what their algorithm does there.
type Place struct {
	owner.Env
	Dir     dirs.StatDir
	Name    string       // of the directory
	Address backend.Name // for messages
	Disk    dirs.Disk    // Dir, where it can do more; else nil
	Fail    func(op string, err error) error
	// NoPlace is the error if the address is that of a lock, Missing if nothing is there.
	NoPlace func(why string) error
	Missing func(ctx context.Context) error
	// Seen is what the names in an entry tell.
	Seen func(e labels.Entry, inside []string) watch.Seen
	// Clear removes a directory that doctor or reap made for itself, with what is in it.
	Clear func(ctx context.Context, name string) error
	// Break removes an entry by its id, with what was seen in it. If that succeeds, Break calls
	// then, which removes the emptied directory. Until then returns, nobody takes that directory
	// for abandoned.
	Break func(ctx context.Context, at string, e labels.Entry, inside []string, then func() error) error
}

// Reap removes locks, and waiters, that are left over.
//
// What has an entry is removed by its id, as any breaker does. Its owner must be proven dead, or
// must have been silent: for the age that was asked for and for its whole lease by the server's
// own times, and for a quarter of its lease while we watch. An empty lock of plain style has no
// id. It is removed by its name, at most a moment after it was seen to be the same as before; a
// lock of that name that is made in this moment is removed, too.
func (l Place) Reap(ctx context.Context, r backend.Reaping) ([]backend.Reaped, error) {
	if r.Clock == nil {
		r.Clock = clock.Boot{}
	}
	p := reaper{place: l, dir: l.Dir, reaping: r}
	err := p.look(ctx)
	if err == nil && r.Remove {
		err = p.removeDue(ctx)
	}
	if err != nil {
		p.breakOff()
	}
	var all []backend.Reaped
	for _, f := range p.found {
		all = append(all, f.Reaped)
	}
	return all, err
}

// A reaper is one pass over a directory of locks.
type reaper struct {
	place   Place
	dir     dirs.StatDir
	reaping backend.Reaping
	now     time.Time // the server's; if younger is not empty, a time that its clock has reached
	younger string    // why what seems too young may be older; "" if it is not
	found   []finding
}

// look notes what is there. First it makes sure that the directory is a place for locks: to make
// anything in a lock would change the lock's time, and keep its holder from removing it.
func (p *reaper) look(ctx context.Context) error {
	entries, err := p.dir.Entries(ctx, p.place.Name)
	if err == nil && len(entries) == 0 {
		err = p.place.Missing(ctx)
	}
	if err != nil {
		return p.place.Fail("list the directory", err)
	}
	if err := p.mustBePlace(entries); err != nil || !slices.ContainsFunc(entries, p.wanted) {
		return err
	}
	if entries, err = p.tellTime(ctx, entries); err != nil {
		return err
	}
	if err := p.mustBePlace(entries); err != nil { // it may have become one meanwhile
		return err
	}
	slices.SortFunc(entries, func(x, y dirs.Entry) int { return strings.Compare(x.Name, y.Name) })
	for _, e := range entries {
		if !p.wanted(e) {
			continue
		}
		if err := p.lookInto(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// mustBePlace refuses a directory that is a lock.
func (p *reaper) mustBePlace(entries []dirs.Entry) error {
	if i := slices.IndexFunc(entries, partOfLock); i >= 0 {
		return p.place.NoPlace("it is a lock itself: " + backend.Quoted(entries[i].Name) + " is part of one")
	}
	return nil
}

// tellTime finds out the server's time, and returns the entries listed then. If nothing is to be
// removed, it makes nothing there, and goes by this machine's clock. A server does not tell the
// zone of its times: there tellTime goes by the earliest time that it may be.
func (p *reaper) tellTime(ctx context.Context, entries []dirs.Entry) (now []dirs.Entry, err error) {
	if p.reaping.Remove {
		entries, probe, err := dirs.ListWithNow(ctx, p.dir, p.place.Name, labels.ProbePrefix+p.place.NewID(), p.place.Fail)
		p.now = probe.Modified
		return entries, err
	}
	p.now = p.place.Today()
	if _, ok := p.dir.(dirs.Rooted); !ok {
		p.now = p.now.Add(-dirs.FarthestWest)
		p.younger = ", as far as can be told without the server's time, for which --yes makes a directory"
	}
	for _, e := range entries {
		if e.Modified.After(p.now) {
			p.now = e.Modified
		}
	}
	return entries, nil
}

func (p *reaper) age(e dirs.Entry) time.Duration { return dirs.Age(e, p.now) }

// partOfLock reports that the directory in which an entry is must be a lock. One
// called "lock" proves nothing: a lock of plain style may have that name.
func partOfLock(e dirs.Entry) bool {
	_, ok := labels.ParseEntry(e.Name)
	return e.Dir && (ok || labels.IsDirStyle(e) && e.Name != labels.LockName)
}

func (p *reaper) wanted(e dirs.Entry) bool {
	matches, _ := path.Match(p.reaping.Names, e.Name)
	return e.Dir && (matches || p.reaping.Names == "")
}
