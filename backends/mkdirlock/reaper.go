package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// A reaper is one pass over a directory of locks.
type reaper struct {
	lock    *Lock
	dir     Timed
	reaping backend.Reaping
	now     time.Time // the server's
	found   []finding
}

// A finding is one thing that was looked at, and how to remove it.
type finding struct {
	backend.Reaped
	entry entry  // unless it is an empty lock
	at    string // the directory where the entry is; "" for an empty lock
	own   string // the directory to remove after it; "" for none
	beat  string // the last heartbeat that was seen
	// changed is when an empty lock was made or emptied.
	changed time.Time
}

func (p *reaper) look(ctx context.Context) error {
	entries, err := p.listWithNow(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		matches := true
		if p.reaping.Names != "" {
			matches, _ = path.Match(p.reaping.Names, e.Name)
		}
		if !e.Dir || !matches {
			continue
		}
		if err := p.lookInto(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// listWithNow lists the directory of locks, in which a directory just made tells
// the server's time.
func (p *reaper) listWithNow(ctx context.Context) ([]Entry, error) {
	l := p.lock
	probe := probePrefix + l.NewID()
	if err := p.dir.Mkdir(ctx, l.Name+"/"+probe); err != nil {
		return nil, l.fail("make a directory among the locks", err)
	}
	entries, err := p.dir.Entries(ctx, l.Name)
	removed := p.dir.Rmdir(ctx, l.Name+"/"+probe)
	if err = errors.Join(err, removed); err != nil {
		return nil, l.fail("list the directory of locks", err)
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == probe })
	if i < 0 || entries[i].Modified.IsZero() {
		return nil, l.fail("find out the server's time", errors.New("its listing does not tell"))
	}
	p.now = entries[i].Modified
	entries = slices.Delete(entries, i, i+1)
	slices.SortFunc(entries, func(x, y Entry) int { return strings.Compare(x.Name, y.Name) })
	return entries, nil
}

const probePrefix = "probe."

// age is how long ago an entry changed, at least.
func (p *reaper) age(e Entry) time.Duration {
	d := p.now.Sub(e.Modified)
	if !e.Precise {
		d -= time.Minute
	}
	return max(d, 0)
}

// lookInto finds out what one directory among the locks is.
func (p *reaper) lookInto(ctx context.Context, e Entry) error {
	at := p.lock.Name + "/" + e.Name
	if e.Modified.IsZero() {
		p.add(finding{}, at, backend.ReapedOther, 0, "its time is not known")
		return nil
	}
	inside, err := p.dir.Entries(ctx, at)
	switch {
	case err != nil && !refused(err):
		return p.lock.fail("list "+at, err)
	case reservationAnywhere(e.Name):
		p.reservation(ctx, e, at, inside)
	case len(inside) == 0:
		p.empty(e, at)
	case slices.ContainsFunc(inside, isTree):
		return p.tree(ctx, at, inside)
	case !p.entries(ctx, at, inside, backend.ReapedHolder, at):
		p.add(finding{}, at, backend.ReapedOther, p.age(e), "it is not a lock")
	}
	return nil
}

// add notes a finding; one with a note stays.
func (p *reaper) add(f finding, path, what string, age time.Duration, note string) {
	f.Path, f.What, f.Age, f.Note, f.Due = strings.TrimPrefix(path, p.lock.Name+"/"), what, age, note, note == ""
	if what == backend.ReapedOther {
		f.Due = false
	}
	p.found = append(p.found, f)
}

// empty notes an empty directory.
func (p *reaper) empty(e Entry, at string) {
	note := ""
	if p.age(e) <= p.reaping.MaxAge {
		note = "too young"
	}
	p.add(finding{own: at, changed: e.Modified, Reaped: backend.Reaped{Holder: nobody(nil, false)}}, at, backend.ReapedEmpty, p.age(e), note)
}

// tree notes what is in a lock in the style of directories.
func (p *reaper) tree(ctx context.Context, at string, inside []Entry) error {
	for _, e := range inside {
		isLock := e.Name == treeLock
		if _, ok := parseTicket(strings.TrimPrefix(e.Name, reservationPrefix)); !ok && !isLock {
			continue
		}
		entries, err := p.dir.Entries(ctx, at+"/"+e.Name)
		if err != nil && !refused(err) {
			return p.lock.fail("list "+at+"/"+e.Name, err)
		}
		if isLock {
			p.entries(ctx, at+"/"+e.Name, entries, backend.ReapedHolder, "")
		} else {
			p.reservation(ctx, e, at+"/"+e.Name, entries)
		}
	}
	return nil
}

// reservation notes who waits, or that he died before he could say so.
func (p *reaper) reservation(ctx context.Context, e Entry, at string, inside []Entry) {
	if p.entries(ctx, at, inside, backend.ReapedWaiter, at) || len(inside) > 0 {
		return
	}
	t, _ := parseTicket(e.Name[strings.LastIndex(e.Name, reservationPrefix)+len(reservationPrefix):])
	silence, note := max(p.reaping.MaxAge, 2*t.lease), ""
	switch {
	case e.Modified.IsZero():
		note = "its time is not known"
	case p.age(e) <= silence:
		note = fmt.Sprintf("it is not older than %v", silence.Round(time.Second))
	}
	p.add(finding{own: at}, at, backend.ReapedWaiter, p.age(e), note)
}

// entries notes those who hold or wait in a directory, and reports whether there
// were any.
func (p *reaper) entries(ctx context.Context, at string, inside []Entry, what, own string) bool {
	any := false
	for _, in := range inside {
		e, ok := parseEntry(in.Name)
		if !ok {
			continue
		}
		any = true
		f := finding{entry: e, at: at, own: own}
		f.beat = p.see(ctx, &f)
		p.add(f, at+"/"+in.Name, what, p.age(in), p.tooLively(f, in, what))
	}
	return any
}

// tooLively is why an entry may not be removed, or "".
func (p *reaper) tooLively(f finding, in Entry, what string) string {
	lease := f.entry.ticket.lease
	silence := max(p.reaping.MaxAge, lease+lease/100)
	if what == backend.ReapedWaiter {
		silence = max(p.reaping.MaxAge, 2*lease)
	}
	switch {
	case f.Holder.Verdict == owner.Alive:
		return "it lives on this machine"
	case in.Modified.IsZero():
		return "its time is not known"
	case p.age(in) <= silence:
		return fmt.Sprintf("its last heartbeat is not older than %v", silence.Round(time.Second))
	}
	return ""
}

// see reads who has an entry, and returns its heartbeat.
func (p *reaper) see(ctx context.Context, f *finding) string {
	names, err := p.dir.List(ctx, f.at+"/"+f.entry.String())
	if err != nil {
		return ""
	}
	r, note := recordIn(names, f.entry.ticket.id)
	f.Holder = sighting{record: r, note: note, verdict: p.lock.verdict(r)}.holder(p.lock.Today())
	beat, _ := latestBeat(names)
	return beat
}

// watch waits for a heartbeat of those who are to be removed, so that a server
// whose times are wrong does no harm.
func (p *reaper) watch(ctx context.Context) error {
	var longest time.Duration
	for _, f := range p.found {
		if f.Due && f.at != "" {
			longest = max(longest, f.entry.ticket.lease/4+f.entry.ticket.lease/100)
		}
	}
	clock.Sleep(ctx, clock.Boot{}, longest)
	now, err := p.dir.Entries(ctx, p.lock.Name)
	if err != nil {
		return p.lock.fail("list the directory of locks", err)
	}
	for i := range p.found {
		f := &p.found[i]
		switch {
		case !f.Due:
		case f.at != "" && (p.see(ctx, f) != f.beat || ctx.Err() != nil):
			f.Due, f.Note = false, "its heartbeat moves"
		case !f.changed.IsZero() && !slices.ContainsFunc(now, f.isStill):
			f.Due, f.Note = false, "it has changed"
		}
	}
	return nil
}

// isStill reports that an entry is the empty lock that was found.
func (f *finding) isStill(e Entry) bool { return e.Name == f.Path && e.Modified.Equal(f.changed) }

// remove removes what is due: the entry by its id, then the directory that is
// empty and ours by that.
func (p *reaper) remove(ctx context.Context, f *finding) {
	if !f.Due {
		return
	}
	var err error
	if f.at != "" {
		err = p.lock.removeEntry(ctx, p.dir, f.at, f.entry.String(), nil)
	}
	if err == nil && f.own != "" {
		err = p.dir.Rmdir(ctx, f.own)
	}
	f.Removed = err == nil
	if err != nil {
		f.Note = "not removed: " + err.Error()
	}
}

// reservationAnywhere reports that a name is that of a reservation beside a lock
// of plain style.
func reservationAnywhere(name string) bool {
	i := strings.LastIndex(name, "."+reservationPrefix)
	if i < 1 {
		return false
	}
	_, ok := parseTicket(name[i+1+len(reservationPrefix):])
	return ok
}

// isTree reports that an entry is part of a lock in the style of directories.
func isTree(e Entry) bool {
	_, fence := parseFence(e.Name)
	_, reservation := parseTicket(strings.TrimPrefix(e.Name, reservationPrefix))
	return e.Name == treeLock || fence || reservation && strings.HasPrefix(e.Name, reservationPrefix)
}
