package local

import "locksmith/backends/lockfile"

// Batons are files that were the lock once and are gone by now, and whose kernel lock the
// queue for it gave to us. Others may sleep in that queue still. Whoever has the kernel lock
// keeps it until its own release, so that a release wakes one of them, and not all.
//
// That is a courtesy, and no rule of the lock looks at it: whoever is stopped or fails with
// batons in hand only makes the others come later, at their next look.
type batons []*lockfile.File

// mostBatons bounds the files that are kept open. To let one go wakes one waiter, who
// keeps it in its turn.
const mostBatons = 16

func (b *batons) add(f *lockfile.File) {
	if *b = append(*b, f); len(*b) > mostBatons {
		_ = (*b)[0].Close()
		*b = (*b)[1:]
	}
}

// pass lets them go.
func (b batons) pass() {
	for _, f := range b {
		_ = f.Close()
	}
}

// openLock opens the lock file. If it is the one whose kernel lock the queue gave us, that
// is open already; if that is gone by now, it is a baton.
func (a *attempt) openLock() (*lockfile.File, error) {
	a.collect()
	if f := a.given; f != nil {
		if a.given = nil; f.Named() == nil {
			return f, nil
		}
		a.batons.add(f)
	}
	return a.lock.open()
}

// collect takes what the queue has given us meanwhile.
func (a *attempt) collect() {
	select {
	case a.given = <-a.turn: // nothing comes while something is there
	default:
	}
}

// leaveQueue gives up the place in the queue, and returns what it has brought.
func (a *attempt) leaveQueue() batons {
	a.lock.queue.leave(a.turn)
	a.collect()
	b := a.batons
	if a.given != nil {
		b.add(a.given)
	}
	a.given, a.batons = nil, nil
	return b
}
