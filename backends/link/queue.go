//go:build unix

package link

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A breakQueue is how one of several breakers wins the right to remove a dead holder's lock. Its
// entries L.brk.<dead id>.<n> are links to the claims of breakers. The maker of entry n may look
// and remove if the makers of all entries before it are dead. An entry goes in two cases only.
// The lock is no longer the dead holder's, which is for ever, because ids are not used again. Or
// the entry's own maker has given up and removes it.
type breakQueue struct {
	lock   *Lock
	fs     FS
	others watcher
	claim  *claim      // ours
	dead   observation // of the lock
	force  bool        // break it even if it gives a sign of life meanwhile
	left   []leftover  // entries to look for once more, when the claim has lost its name
}

// run removes the dead holder's lock. backend.ErrAgain means that the lock is another one now;
// rival is somebody else that breaks it.
func (q *breakQueue) run() (rival *observation, err error) {
	//rule:turn
	n, rival, err := q.join()
	if n == 0 {
		return rival, err
	}
	//rule:lock-first
	over, err := q.removeLock()
	if over {
		for i := 1; i < n; i++ {
			_ = q.fs.Unlink(q.entry(i)) // or somebody tends to it
		}
	}
	q.removeEntry(n)
	return nil, err
}

func (q *breakQueue) entry(n int) string { return q.lock.entryName(q.dead.Of.id(), n) }

// join finds our place in the queue; 0 if we have none.
func (q *breakQueue) join() (n int, rival *observation, err error) {
	for n := 1; n <= maxEntries; n++ {
		// A late request can make the entry ours after we have left. Then everybody would wait
		// for us, we too.
		//rule:late
		q.left = append(q.left, q.own(n))
		won, err := q.claim.linkTo(q.entry(n))
		if won {
			return n, nil, nil
		}
		if err != nil {
			q.removeEntry(n)
			return 0, nil, err
		}
		s, err := q.others.look(q.entry(n), q.claim.now)
		switch {
		case errors.Is(err, errAbsent):
			return 0, nil, backend.ErrAgain
		case err != nil:
			return 0, nil, err
		//rule:own
		case s.Of.content.Holds(q.claim.record.ID) && s.Of.stat.Same(q.claim.stat):
			return n, nil, nil // the server made it ours late
		case s.Of.content.Holds(q.claim.record.ID):
			return 0, nil, q.lock.lies("a file has another number under its second name")
		//rule:lives
		case s.Due > 0:
			return 0, &s, nil
		}
	}
	return 0, nil, q.lock.Address.Unfit("break the lock of a dead holder", "too many died at it before",
		"remove the files "+q.lock.Name+entryMark+"*")
}

// removeLock looks again and removes the lock. over means that it is not the dead holder's any
// more.
func (q *breakQueue) removeLock() (over bool, err error) {
	//rule:look
	s, err := q.others.see(q.lock.Name)
	switch {
	case errors.Is(err, errAbsent):
		return true, backend.ErrAgain
	case err != nil:
		return false, err
	case s.Of.unreadable && !q.dead.Of.unreadable:
		return false, backend.ErrAgain // it may still be the dead holder's
	//rule:same-id
	case s.Of.id() != q.dead.Of.id():
		return true, backend.ErrAgain
	//rule:same-sign
	case s.Of.sign() != q.dead.Of.sign() && !q.force:
		return false, backend.ErrAgain // it lives
	}
	err = q.fs.Unlink(q.lock.Name)
	switch {
	case err == nil, absent(err):
		return true, nil
	case forbidden(err):
		return false, errSticky
	}
	return false, q.lock.fail("remove the lock file of a dead holder", err)
}

// withdraw removes all that is ours.
func (q *breakQueue) withdraw() {
	_ = q.claim.remove()
	for _, x := range q.left {
		_ = x.remove(q.fs)
	}
}

// own is entry n as ours.
func (q *breakQueue) own(n int) leftover { return leftover{q.entry(n), q.claim.record.ID} }

// removeEntry removes our own entry, if it is there.
func (q *breakQueue) removeEntry(n int) { _ = q.own(n).remove(q.fs) }

// Strike implements backend.Backend. It takes its turn with those that break the dead.
func (l *Lock) Strike(_ context.Context, h backend.Holder) error {
	fs := l.NewFS()
	defer fs.Close()
	w := l.newWatcher(fs, backend.Request{Clock: clock.Boot{}, Owner: owner.Record{Lease: UsualLease}})
	s, err := w.see(l.Name)
	switch {
	case err == nil && s.Of.id() == h.ID && s.Of.stat.Kind == "":
		return l.breakHolder(w, s, h.BreakOp())
	case err != nil && !errors.Is(err, errAbsent):
		return err
	case !owner.IsID(h.ID):
		return backend.ErrGone
	}
	err = fs.Unlink(l.claimName(h.ID)) // it waits
	switch {
	case absent(err):
		return backend.ErrGone
	case err != nil:
		return l.fail(h.BreakOp(), err)
	}
	return nil
}

func (l *Lock) breakHolder(w watcher, s observation, op string) error {
	c, err := l.newClaim(w.fs, l.Self())
	if err != nil {
		return err
	}
	q := breakQueue{lock: l, fs: w.fs, others: w, claim: c, dead: s, force: true}
	defer q.withdraw()
	if err := c.make(); err != nil {
		return err
	}
	rival, err := q.run()
	switch {
	case rival != nil:
		return l.Address.Failure(protocol.Held, op, errors.New("somebody else is at it: "+rival.Holder(l.Today()).String()),
			"look again with: locksmith status "+backend.ShellWord(string(l.Address)))
	case errors.Is(err, backend.ErrAgain):
		return backend.ErrGone
	case errors.Is(err, errSticky):
		return l.Address.Failure(protocol.Permission, op, err, "the directory is sticky: let its owner do it, or root")
	}
	return err
}
