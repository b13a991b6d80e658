package reap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/condition"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

const (
	// lookTime is how old a look at an empty lock may be when the request to remove it is made. The
	// request may then take as long again.
	lookTime = 2 * time.Second
	// maxLooks bounds how often to look again, if looking takes longer.
	maxLooks = 3
)

var (
	// errChanged: an empty lock is not the one that was found any more.
	errChanged = errors.New("it has changed")
	errMoved   = errors.New("its heartbeat moves, or it is gone")
)

// watch is how long a heartbeat must be watched for: not at all if its holder is proven dead.
func (f *finding) watch() time.Duration {
	if f.at == "" || condition.Of(f.Holder).IsDead() {
		return 0
	}
	return owner.WholeBeat(f.entry.Ticket.Lease)
}

// hinder notes what is in the way of a removal, if something is.
func (p *reaper) hinder(f *finding) {
	switch {
	case f.own != "" && !dirs.MayRemove(p.dir, f.own):
		p.fail(f, dirs.NotOwner(p.place.Address, "remove "+f.Path))
	case f.watch() > p.reaping.Watch:
		need := (f.watch() + time.Second).Truncate(time.Second)
		p.fail(f, p.place.Address.Failure(protocol.Timeout, "remove "+f.Path,
			fmt.Errorf("its heartbeat must be watched for %v: allow it with --watch %v", need, need),
			"a quarter of its lease, in case the server's times are wrong"))
	}
}

// fail notes that what is due stays. That is an error if it was to be removed.
func (p *reaper) fail(f *finding, err error) {
	f.Note = backend.Reason(err)
	if p.reaping.Remove {
		f.Note, f.Err = "not removed: "+f.Note, err
	}
}

// removeDue removes what is due, each as soon as it was watched for long enough.
func (p *reaper) removeDue(ctx context.Context) error {
	for _, f := range p.due() {
		if wait := f.since + f.watch() - p.reaping.Clock.Now(); f.at != "" && wait > 0 {
			clock.Sleep(ctx, p.reaping.Clock, wait)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.remove(ctx, f)
	}
	return nil
}

// due are the findings to be removed, those to be watched for the shortest time
// first.
func (p *reaper) due() []*finding {
	var all []*finding
	for i := range p.found {
		if f := &p.found[i]; f.Due && f.Note == "" && !f.Removed {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(x, y *finding) int { return cmp.Compare(x.watch(), y.watch()) })
	return all
}

// breakOff notes of each finding that was due that it was not removed.
func (p *reaper) breakOff() {
	for _, f := range p.due() {
		f.Note = "not removed: broken off before"
	}
}

// remove removes what is due. Once begun, it is finished.
func (p *reaper) remove(ctx context.Context, f *finding) {
	ctx, cancel := dirs.Outlast(ctx, dirs.GraceTime)
	defer cancel()
	var err error
	switch {
	case f.tree:
		if err = p.place.Clear(ctx, f.own); err != nil {
			err = p.place.Fail("remove "+f.Path, err)
		}
	case f.changed.IsZero():
		err = p.removeSilent(ctx, f)
	default:
		err = p.removeEmpty(ctx, f)
	}
	switch {
	case err == nil:
		f.Removed = true
	case errors.Is(err, errChanged), errors.Is(err, dirs.ErrTended), errors.Is(err, errMoved), errors.Is(err, dirs.ErrRevived), errors.Is(err, dirs.ErrAbsent), errors.Is(err, backend.ErrAgain):
		f.Due, f.Note = false, backend.Reason(err)
	default:
		p.fail(f, err)
	}
}

// removeSilent removes an entry by its id if it has no new heartbeat, and then the directory
// around it, which is empty and ours by that.
func (p *reaper) removeSilent(ctx context.Context, f *finding) error {
	removeOwn := func() error {
		if f.own == "" {
			return nil
		}
		return p.removeDir(ctx, f, f.own)
	}
	if f.at == "" {
		return removeOwn()
	}
	inside, err := p.see(ctx, f)
	if err != nil {
		return p.place.Fail("look at "+f.Path, err)
	}
	if beat, _ := labels.LatestBeat(inside); beat != f.beat {
		return errMoved
	}
	return p.place.Break(ctx, f.at, f.entry, inside, removeOwn)
}

// removeEmpty removes an empty lock by its name. That hits somebody else's lock if it was made
// between the look and the removal, so these are close together.
func (p *reaper) removeEmpty(ctx context.Context, f *finding) error {
	for range maxLooks {
		looked := p.reaping.Clock.Now()
		if err := p.checkUnchanged(ctx, f); err != nil {
			return err
		}
		if disk := p.place.Disk; disk != nil {
			if err := disk.RemoveAbandoned(ctx, f.own); err == nil || errors.Is(err, dirs.ErrTended) {
				return err
			}
		}
		if p.reaping.Clock.Now()-looked <= lookTime {
			return p.removeFresh(ctx, f)
		}
	}
	return p.tooSlow(f)
}

func (p *reaper) tooSlow(f *finding) error {
	return p.place.Address.Failure(protocol.Unreachable, "remove "+f.Path,
		fmt.Errorf("to look at it and remove it takes longer than %v, and meanwhile it may be somebody else's", lookTime),
		"look at the server, then try again; or remove it by hand")
}

// checkUnchanged returns errChanged if a lock is not the empty one that was found.
func (p *reaper) checkUnchanged(ctx context.Context, f *finding) error {
	entries, err := p.dir.Entries(ctx, p.place.Name)
	switch {
	case err != nil:
		return p.place.Fail("list the directory of locks", err)
	case !slices.ContainsFunc(entries, f.isUnchanged):
		return errChanged
	}
	return nil
}

// isUnchanged reports that an entry is the empty lock that was found.
func (f *finding) isUnchanged(e dirs.Entry) bool {
	return e.Name == f.Path && e.Modified.Equal(f.changed)
}

// removeFresh removes an empty lock that was just looked at. A refusal may mean that somebody
// came after all.
func (p *reaper) removeFresh(ctx context.Context, f *finding) error {
	soon, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err := p.removeDir(soon, f, f.own)
	switch {
	case dirs.Refused(err) && errors.Is(p.checkUnchanged(ctx, f), errChanged):
		return errChanged
	case errors.Is(err, context.DeadlineExceeded) && !dirs.Unclear(err):
		return p.tooSlow(f) // it was not even sent
	}
	return err
}

// removeDir removes a directory by its name. After an unclear answer the directory may be
// somebody else's already, so the request is not repeated.
func (p *reaper) removeDir(ctx context.Context, f *finding, name string) error {
	err := p.dir.Rmdir(ctx, name)
	switch {
	case err == nil:
		return nil
	case dirs.Unclear(err):
		err = fmt.Errorf("the answer was lost, and it may be gone: %w", err)
	}
	return p.place.Fail("remove "+f.Path, err)
}
