package reap

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
)

// A finding is one thing that was looked at, and how to remove it.
type finding struct {
	backend.Reaped
	entry labels.Entry  // unless it is an empty lock
	at    string        // the directory where the entry is; "" for an empty lock
	own   string        // the directory to remove after the entry; "" for none
	beat  string        // the last heartbeat that was seen
	since time.Duration // when beat was seen, by the request's clock
	tree  bool          // own goes with what is in it
	// changed is when an empty lock was made or emptied.
	changed time.Time
}

// lookInto finds out what one directory among the locks is.
func (p *reaper) lookInto(ctx context.Context, e dirs.Entry) error {
	at := p.place.Name + "/" + e.Name
	if e.Modified.IsZero() {
		p.other(e, at, "its time is not known")
		return nil
	}
	inside, ok, err := p.inside(ctx, e, at)
	_, isReservation := labels.LockOfReservation(e.Name)
	switch {
	case err != nil || !ok:
		return err
	case isReservation:
		p.reservation(ctx, e, at, inside)
	case labels.IsScratch(e.Name):
		p.scratch(e, at)
	case len(inside) == 0 && e.Name == labels.LockName:
		p.other(e, at, "its name is one that ?style=dir uses inside of a lock; if it is a lock of its own that nobody has, remove it by hand: rmdir")
	case len(inside) == 0:
		p.empty(e, at)
	case slices.ContainsFunc(inside, labels.IsDirStyle):
		return p.dirStyle(ctx, at, inside)
	case !p.entries(ctx, at, inside, backend.ReapedHolder, at):
		p.other(e, at, "it is not a lock")
	}
	return nil
}

// inside lists a directory among the locks. One that cannot be listed is noted, and
// not ok. If the server does not answer at all, that is an error.
func (p *reaper) inside(ctx context.Context, e dirs.Entry, at string) (inside []dirs.Entry, ok bool, err error) {
	inside, err = p.dir.Entries(ctx, at)
	switch {
	case err == nil:
		return inside, true, nil
	case dirs.Passing(err), ctx.Err() != nil:
		return nil, false, p.place.Fail("list "+at, err)
	}
	p.other(e, at, "it cannot be listed: "+backend.Reason(err))
	return nil, false, nil
}

// add notes a finding. With a note it is not due.
func (p *reaper) add(f finding, path, what string, age time.Duration, note string) {
	f.Path, f.What, f.Age, f.Note, f.Due = strings.TrimPrefix(path, p.place.Name+"/"), what, age, note, note == ""
	if f.Due {
		p.hinder(&f)
	}
	p.found = append(p.found, f)
}

// other notes what stays, whatever its age.
func (p *reaper) other(e dirs.Entry, at, note string) {
	p.add(finding{}, at, backend.ReapedOther, p.age(e), note)
}

// scratch notes what doctor or reap made for itself, and did not remove because it was killed.
func (p *reaper) scratch(e dirs.Entry, at string) {
	p.add(finding{own: at, tree: true}, at, backend.ReapedScratch, p.age(e), p.tooYoung(e))
}

// tooYoung is why an entry without a heartbeat may not be removed yet, or "".
func (p *reaper) tooYoung(e dirs.Entry) string {
	if p.age(e) <= p.reaping.MaxAge {
		return "too young" + p.whyYoung(e)
	}
	return ""
}

// empty notes an empty directory.
func (p *reaper) empty(e dirs.Entry, at string) {
	p.add(finding{own: at, changed: e.Modified, Reaped: backend.Reaped{Holder: labels.Nobody(nil, false)}}, at, backend.ReapedEmpty, p.age(e), p.tooYoung(e))
}

// dirStyle notes what is in a lock in dir style.
func (p *reaper) dirStyle(ctx context.Context, at string, inside []dirs.Entry) error {
	for _, e := range inside {
		if e.Dir && labels.IsScratch(e.Name) && !e.Modified.IsZero() {
			p.scratch(e, at+"/"+e.Name)
		}
		isLock := e.Name == labels.LockName
		if _, ok := labels.ParseTicket(strings.TrimPrefix(e.Name, labels.ReservationPrefix)); !ok && !isLock {
			continue
		}
		entries, ok, err := p.inside(ctx, e, at+"/"+e.Name)
		switch {
		case err != nil:
			return err
		case !ok:
		case isLock:
			p.entries(ctx, at+"/"+e.Name, entries, backend.ReapedHolder, "")
		default:
			p.reservation(ctx, e, at+"/"+e.Name, entries)
		}
	}
	return nil
}

// reservation notes a waiter, or a reservation whose maker died before it made its entry.
func (p *reaper) reservation(ctx context.Context, e dirs.Entry, at string, inside []dirs.Entry) {
	if p.entries(ctx, at, inside, backend.ReapedWaiter, at) || len(inside) > 0 {
		return
	}
	t, _ := labels.ParseTicket(e.Name[strings.LastIndex(e.Name, labels.ReservationPrefix)+len(labels.ReservationPrefix):])
	silence, note := max(p.reaping.MaxAge, owner.LeftOver(t.Lease)), ""
	switch {
	case e.Modified.IsZero():
		note = "its time is not known"
	case p.age(e) <= silence:
		note = fmt.Sprintf("it is not older than %v", silence.Round(time.Second)) + p.whyYoung(e)
	}
	p.add(finding{own: at}, at, backend.ReapedWaiter, p.age(e), note)
}

// entries notes those who hold or wait in a directory, and reports whether there
// were any.
func (p *reaper) entries(ctx context.Context, at string, inside []dirs.Entry, what, own string) bool {
	any := false
	for _, in := range inside {
		e, ok := labels.ParseEntry(in.Name)
		if !ok {
			continue
		}
		any = true
		f := finding{entry: e, at: at, own: own}
		names, err := p.see(ctx, &f)
		f.since = p.reaping.Clock.Now()
		f.beat, _ = labels.LatestBeat(names)
		note := p.whyAlive(f, in, what)
		if err != nil {
			note = "it cannot be looked at: " + backend.Reason(err)
		}
		p.add(f, at+"/"+in.Name, what, p.age(in), note)
	}
	return any
}

// whyAlive is why an entry may not be removed, or "".
func (p *reaper) whyAlive(f finding, in dirs.Entry, what string) string {
	lease := f.entry.Ticket.Lease
	silence := max(p.reaping.MaxAge, owner.WholeLease(lease))
	if what == backend.ReapedWaiter {
		silence = max(p.reaping.MaxAge, owner.LeftOver(lease))
	}
	switch {
	case condition.Of(f.Holder).Proven:
		return "it lives on this machine"
	case condition.Of(f.Holder).IsDead():
		return "" // however young it is
	case in.Modified.IsZero():
		return "its time is not known"
	case p.age(in) <= silence:
		return fmt.Sprintf("its last heartbeat is not older than %v", silence.Round(time.Second)) + p.whyYoung(in)
	}
	return ""
}

// whyYoung adds to a note what else is to be known of the time of an entry. A time that is yet to come
// makes it young for as long.
func (p *reaper) whyYoung(e dirs.Entry) string {
	if ahead := e.Modified.Sub(p.now); ahead > time.Hour {
		return fmt.Sprintf(": its time is %v ahead of the clock there", ahead.Round(time.Minute))
	}
	return p.younger
}

// see reads who has an entry, and returns what is in it.
func (p *reaper) see(ctx context.Context, f *finding) ([]string, error) {
	names, err := p.dir.List(ctx, f.at+"/"+f.entry.String())
	if err != nil && !dirs.Refused(err) { // some servers refuse to list what is empty
		return nil, err
	}
	f.Holder = p.place.Seen(f.entry, names).Holder(p.place.Today())
	return names, nil
}
