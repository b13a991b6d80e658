package local

import (
	"errors"

	"locksmith/backends/lockfile"
)

// Batons are files that were the lock once and have been removed. The queue gave us their kernel
// locks, and others may still sleep in that queue. So whoever has the kernel lock of a baton
// keeps it until its own release: then a release wakes one of the others, and not all.
//
// That is a courtesy, and no rule of the lock depends on it. If a process with batons is stopped
// or fails, the others only come later, at their next look.
type batons []File

// mostBatons limits the files that are kept open. Letting one go wakes one waiter, which then
// keeps it in turn.
const mostBatons = 16

func (b *batons) add(f File) {
	//rule:most
	if *b = append(*b, f); len(*b) > mostBatons {
		_ = (*b)[0].Close()
		*b = (*b)[1:]
	}
}

// pass lets the batons go.
func (b batons) pass() {
	for _, f := range b {
		_ = f.Close()
	}
}

// openLock opens the lock file. If the queue gave us the kernel lock of a file, that file is open
// already: if it is still the lock, openLock returns it; if it was removed, it becomes a baton.
func (a *attempt) openLock() (File, error) {
	if f := a.lock.queue.take(a.bell); f != nil {
		switch err := f.Named(); {
		case err == nil:
			//rule:kept
			return f, nil
		case errors.Is(err, lockfile.ErrReplaced):
			//rule:lost-one
			a.batons.add(f)
		default: // it may still be the lock: as a baton of ours it would look kept by its holder
			//rule:holder
			_ = f.Close()
		}
	}
	return a.system.Open()
}

// leaveQueue stops waiting for a turn, and returns the batons, with the file that the queue may
// have given us by now.
func (a *attempt) leaveQueue() batons {
	//rule:take-along
	if f := a.lock.queue.leave(a.bell); f != nil {
		a.batons.add(f)
	}
	b := a.batons
	a.batons = nil
	return b
}
