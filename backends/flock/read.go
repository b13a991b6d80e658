//go:build unix

package flock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// A look is flocks.Look, flocks.Glance, flocks.Peek, or what flocks.Snapshot returns.
type look func(path string) (flocks.Seen, error)

// Read implements backend.Backend. It takes no kernel lock.
func (l *Lock) Read(context.Context) (backend.Report, error) {
	var record *owner.Record
	f, unread := lockfile.Open(l.path)
	if unread == nil {
		defer f.Close()
		record = recordOf(f)
	}
	r, err := l.report(record, owner.Here(), l.sees)
	switch {
	case err != nil, errors.Is(unread, fs.ErrNotExist):
	case unread != nil:
		r.Stays, r.Keeps = true, l.fail("look at lock file", unread)
	default:
		r.Beside, r.Stays, r.Keeps = l.beside(f), true, l.removable(f)
	}
	return r, err
}

// report tells who has the lock, by a record that was read just now, and how many wait, as far as
// that can be seen.
func (l *Lock) report(record *owner.Record, here owner.Place, look look) (backend.Report, error) {
	report := backend.Report{Crowd: true} // those that wait leave no trace in the file: only AtLeast tells of them
	seen, err := look(l.path)
	moved := false
	if err == nil && len(seen.Takers) > 0 && len(seen.Keepers) == 0 { // the taker may have ended just then
		before := seen.Takers
		seen, err = look(l.path)
		moved = len(seen.Takers) > 0 && len(seen.Keepers) == 0 && !slices.Equal(seen.Takers, before)
	}
	switch {
	case errors.Is(err, flocks.ErrHidden):
		report.Unseen = unseenLock(err.Error(), record)
		return report, nil
	case errors.Is(err, fs.ErrNotExist):
		_, err := lockfile.FindDirectory(l.address, filepath.Dir(l.path), nil)
		return report, err // a lock that cannot be there is not free
	case err != nil:
		return report, l.fail("look at lock file", err)
	}
	report.AtLeast, report.Holders = seen.Waiting(), l.holders(seen, record, here)
	if moved {
		report.Holders = []backend.Holder{{Verdict: owner.Unknown, OfKernel: true, Note: "others took turns while we looked"}}
	}
	if seen.Hidden && len(report.Holders) == 0 {
		report.Unseen = unseenLock("the kernel hides the locks of processes outside of this container", record)
	}
	return report, nil
}

// unseenLock says why a lock that nobody is seen to have may be held, and what its record says.
func unseenLock(why string, r *owner.Record) string {
	if r == nil {
		return why
	}
	return why + "; the last record in the file is that of " + watch.Seen{ID: r.ID, Record: r, Since: r.Acquired}.Holder(time.Now()).String() +
		", which may have it still"
}

// refuser is who keeps the lock from us. If nobody is seen, and the kernel may hide locks, somebody
// has it whom it does not name.
func (l *Lock) refuser(seen flocks.Seen, record *owner.Record, here owner.Place) backend.Holder {
	if flocks.Hides() && !seen.Held() {
		seen.Unnamed, seen.Hidden = true, true
	}
	if all := l.holders(seen, record, here); len(all) > 0 {
		return all[0]
	}
	return backend.Holder{Verdict: owner.Unknown}
}

// holders are those that have the lock, by what was seen and by a record.
func (l *Lock) holders(seen flocks.Seen, record *owner.Record, here owner.Place) (all []backend.Holder) {
	s := sight{seen, record, here}
	for _, taker := range s.takers() {
		all = append(all, s.holder(taker))
	}
	return all
}

// A sight is what the kernel shows of a lock, and what its record says.
type sight struct {
	flocks.Seen
	record *owner.Record
	here   owner.Place
}

// unseen stands for a taker that cannot be seen from here.
const unseen = 0

// takers are the processes that took the lock. Each stands for one holder.
func (s sight) takers() []int {
	all := slices.Clone(s.Takers)
	for _, k := range s.Keepers {
		all = append(all, k.Taker)
	}
	if s.Unnamed {
		all = append(all, unseen)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// holder describes the holder that a taker stands for. Others may have the lock by now.
func (s sight) holder(taker int) backend.Holder {
	var kept []process.Process
	for _, k := range s.Keepers {
		if k.Taker == taker {
			kept = append(kept, k.Process)
		}
	}
	if verdict, counts := s.counts(taker, kept); counts {
		return ofRecord(s.record, verdict, kept)
	}
	return s.unnamed(taker, kept)
}

// counts reports whether the record is that of the holder for which taker took the lock, and the
// verdict on that holder. It is in three cases: the process on record lives and has the file
// locked; or it took the lock and has ended, and others keep the lock (Orphaned); or it cannot be
// seen from here whether that process has the lock, and nothing speaks against it.
func (s sight) counts(taker int, kept []process.Process) (owner.Verdict, bool) {
	r := s.record
	if r == nil || s.Shared {
		return "", false
	}
	verdict := r.Verdict(s.here)
	has := slices.ContainsFunc(kept, func(p process.Process) bool { return p.PID == r.Helper.PID && p.Start == r.Helper.Start })
	switch {
	case verdict == owner.Unknown:
		return verdict, taker == unseen || s.Unnamed
	case verdict == owner.Alive: // what our own namespace has locked is not hidden
		return verdict, has || s.Unnamed && !s.Hidden || taker == r.Helper.PID && len(kept) == 0
	case taker == r.Helper.PID:
		return owner.Orphaned, true
	}
	return "", false
}

// ofRecord is a holder that is on record.
func ofRecord(r *owner.Record, verdict owner.Verdict, kept []process.Process) backend.Holder {
	h := watch.Seen{ID: r.ID, Record: r, Verdict: verdict, Since: r.Acquired}.Holder(time.Now())
	h.OfKernel, h.Kept = true, pids(kept)
	switch {
	case verdict == owner.Orphaned && len(kept) == 0:
		h.Note = "its job ended; what it left behind keeps it: " + hidden("processes that")
	case verdict == owner.Orphaned:
		h.Note = "its job ended; " + owner.Named(kept) + ", left behind, keeps it"
	case verdict == owner.Unknown:
		h.Note = "whether it has the lock still cannot be seen from here"
	}
	return h
}

// unnamed is a holder without a record.
func (s sight) unnamed(taker int, kept []process.Process) backend.Holder {
	h := backend.Holder{PID: taker, Verdict: owner.Alive, OfKernel: true, Kept: pids(kept)}
	others := slices.DeleteFunc(slices.Clone(kept), func(p process.Process) bool { return p.PID == taker })
	took, lives := process.Process{PID: taker}, taker != unseen && !process.Process{PID: taker}.Gone()
	switch {
	case len(others) < len(kept):
		h.Who = owner.Named([]process.Process{took})
		if len(others) > 0 {
			h.Note = "kept by " + owner.Named(others) + ", too"
		}
	case len(kept) > 0:
		h.Who, h.PID = owner.Named(kept), kept[0].PID
		if !lives && taker != unseen {
			h.Note = fmt.Sprintf("locked by pid %d, which is gone", taker)
		}
	case lives:
		h.Who, h.Verdict = owner.Named([]process.Process{took}), owner.Unknown
		h.Note = "that one took the lock; only root can see who has it now"
	default:
		h.Who, h.PID, h.Verdict = s.nobodyKnown(), 0, owner.Unknown
		if taker != unseen {
			h.Note = fmt.Sprintf("locked by pid %d, which is gone", taker)
		}
	}
	return h
}

func (s sight) nobodyKnown() string {
	if s.Unnamed && s.Hidden {
		return "somebody outside of this container"
	}
	if s.Unnamed {
		return "somebody whom " + runtime.GOOS + " does not name"
	}
	return hidden("somebody who")
}

// hidden is about a process that cannot be seen from here.
func hidden(who string) string {
	if os.Geteuid() == 0 {
		return who + " cannot be seen from here"
	}
	return who + " can be seen by root alone"
}

func pids(all []process.Process) (numbers []int) {
	for _, p := range all {
		numbers = append(numbers, p.PID)
	}
	return numbers
}
