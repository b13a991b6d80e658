package mkdirlock

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// Reap implements backend.Reaper: the address is that of a directory of locks.
//
// What has an entry is removed as by any breaker: by its id. Its owner is proven dead;
// or it must have been silent for the age that was asked for and for its whole lease, by
// the server's own times, and for a quarter of its lease while we watch. An empty lock of
// plain style has no id. It is removed by its name, at most a moment after it was
// seen to be the same as before; a lock of that name made in this moment is hit.
func (l *Lock) Reap(ctx context.Context, r backend.Reaping) ([]backend.Reaped, error) {
	if err := l.checkReaping(r); err != nil {
		return nil, err
	}
	dir, ok := l.NewDir().(StatDir)
	if !ok {
		return nil, l.usage("reap", "this place does not tell times", "break single locks instead: locksmith break")
	}
	defer dir.Close()
	if r.Clock == nil {
		r.Clock = clock.Boot{}
	}
	p := reaper{lock: l, dir: dir, reaping: r}
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

var _ backend.Reaper = (*Lock)(nil)

func (l *Lock) checkReaping(r backend.Reaping) error {
	if _, err := path.Match(r.Names, ""); err != nil {
		return l.usage("reap", "the pattern "+backend.Quoted(r.Names)+" is malformed", "write for example *.lock")
	}
	if l.Style == TreeStyle {
		return l.noPlace("an address with ?style=dir is that of a lock, not of a directory of locks")
	}
	return nil
}

// noPlace refuses the address of a lock. Reaping inside a lock would take its fencing
// tokens for empty locks and remove them, and tokens would start again.
func (l *Lock) noPlace(why string) error {
	here, _, _ := strings.Cut(l.Address, "?")
	above := here[:max(strings.LastIndexByte(here, '/'), 0)]
	return l.usage("reap", why, "name the directory that locks are in, without ?style=dir: for the lock "+here+" it is "+above)
}

// A reaper is one pass over a directory of locks.
type reaper struct {
	lock    *Lock
	dir     StatDir
	reaping backend.Reaping
	now     time.Time // the server's; if younger is not empty, a time that it has reached
	younger string    // why what seems too young may be older; "" if it is not
	found   []finding
}

// look first makes sure that it is in a place for locks. To make anything in a lock would
// change the lock's time, and keep its holder from removing it.
func (p *reaper) look(ctx context.Context) error {
	entries, err := p.dir.Entries(ctx, p.lock.Name)
	if err == nil && len(entries) == 0 {
		err = dirTree{p.lock, p.dir}.missing(ctx)
	}
	if err != nil {
		return p.lock.fail("list the directory", err)
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
	slices.SortFunc(entries, func(x, y Entry) int { return strings.Compare(x.Name, y.Name) })
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
func (p *reaper) mustBePlace(entries []Entry) error {
	if i := slices.IndexFunc(entries, partOfLock); i >= 0 {
		return p.lock.noPlace("it is a lock itself: " + backend.Quoted(entries[i].Name) + " is part of one")
	}
	return nil
}

// farthestWest is how far local time is behind UTC at most.
const farthestWest = 12 * time.Hour

// tellTime finds out the server's time, and returns the entries listed then. Who only looks
// makes nothing there, and goes by this machine's clock. On a server, times are in a zone
// that is not told: there it goes by what the time is at least.
func (p *reaper) tellTime(ctx context.Context, entries []Entry) (now []Entry, err error) {
	if p.reaping.Remove {
		entries, p.now, err = p.lock.listWithNow(ctx, p.dir, probePrefix+p.lock.NewID())
		return entries, err
	}
	p.now = p.lock.Today()
	if _, ok := p.dir.(rooted); !ok {
		p.now = p.now.Add(-farthestWest)
		p.younger = ", as far as can be told without the server's time, for which --yes makes a directory"
	}
	for _, e := range entries {
		if e.Modified.After(p.now) {
			p.now = e.Modified
		}
	}
	return entries, nil
}

// partOfLock reports that the directory in which an entry is must be a lock. One
// called "lock" proves nothing: a lock of plain style may have that name.
func partOfLock(e Entry) bool {
	_, ok := parseEntry(e.Name)
	return e.Dir && (ok || isTree(e) && e.Name != treeLock)
}

func (p *reaper) wanted(e Entry) bool {
	matches, _ := path.Match(p.reaping.Names, e.Name)
	return e.Dir && (matches || p.reaping.Names == "")
}

// listWithNow lists a directory, the lock's or that of several locks, in which a directory
// just made, the probe, tells the server's time.
func (l *Lock) listWithNow(ctx context.Context, dir StatDir, probe string) (entries []Entry, now time.Time, err error) {
	if err := dir.Mkdir(ctx, l.Name+"/"+probe); err != nil {
		if unclear(err) {
			_ = l.removeProbe(ctx, dir, probe)
		}
		return nil, now, l.fail("make a directory to see the server's time", err)
	}
	entries, err = dir.Entries(ctx, l.Name)
	if err = errors.Join(err, l.removeProbe(ctx, dir, probe)); err != nil {
		return nil, now, l.fail("list the directory", err)
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == probe })
	if i < 0 || entries[i].Modified.IsZero() {
		return nil, now, l.fail("find out the server's time", errors.New("its listing does not tell"))
	}
	now = entries[i].Modified
	return slices.Delete(entries, i, i+1), now, nil
}

const probePrefix = "probe."

func (l *Lock) removeProbe(ctx context.Context, dir Dir, probe string) error {
	ctx, cancel := outlast(ctx, graceTime)
	defer cancel()
	return dir.Rmdir(ctx, l.Name+"/"+probe)
}

// age is how long ago an entry changed, at least. Times to the minute come from a
// listing in the server's local zone, whose clock may have skipped an hour meanwhile.
func (p *reaper) age(e Entry) time.Duration { return age(e, p.now) }

func age(e Entry, now time.Time) time.Duration {
	if e.Modified.IsZero() {
		return 0
	}
	d := now.Sub(e.Modified)
	if !e.Precise {
		d -= time.Minute
		if maySkip(e.Modified, now) {
			d -= time.Hour
		}
	}
	return max(d, 0)
}

// maySkip reports that summer may have begun between two local times: an hour is then
// missing between them, so that they are at least as far apart; and wherever there is
// summer time it begins at night.
func maySkip(from, to time.Time) bool {
	const dawn, dusk = 4, 22
	sameDay := from.Truncate(24 * time.Hour).Equal(to.Truncate(24 * time.Hour))
	return to.Sub(from) >= time.Hour && !(sameDay && from.Hour() >= dawn && to.Hour() < dusk)
}
