package local

// Batons are files that were the lock once and are gone by now, and whose kernel lock the
// queue for it gave to us. Others may sleep in that queue still. Whoever has the kernel lock
// keeps it until its own release, so that a release wakes one of them, and not all.
//
// That is a courtesy, and no rule of the lock looks at it: whoever is stopped or fails with
// batons in hand only makes the others come later, at their next look.
type batons []File

// mostBatons bounds the files that are kept open. To let one go wakes one waiter, who
// keeps it in its turn.
const mostBatons = 16

func (b *batons) add(f File) {
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
func (a *attempt) openLock() (File, error) {
	if f := a.lock.queue.take(a.bell); f != nil {
		if f.Named() == nil {
			return f, nil
		}
		a.batons.add(f)
	}
	return a.system.Open()
}

// leaveQueue gives up waiting for a turn, and returns what the queue has brought.
func (a *attempt) leaveQueue() batons {
	if f := a.lock.queue.leave(a.bell); f != nil {
		a.batons.add(f)
	}
	b := a.batons
	a.batons = nil
	return b
}
