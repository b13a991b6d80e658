//go:build unix

package link

import (
	"errors"

	"locksmith/backends/backend"
)

// A chain is how one of several breakers wins the right to remove a dead one's
// lock. Its entries L.brk.<dead id>.<n> are links to the claims of breakers. Who
// made entry n may look and remove if the makers of all before are dead; it is the
// last one who is not. Entries go only when the lock is no longer the dead one's,
// which is for ever, because ids are not used again; or by their own maker, who has
// given up.
type chain struct {
	lock   *Lock
	fs     FS
	others watcher
	claim  *claim      // ours
	dead   observation // of the lock
	force  bool        // break him even if he gives a sign of life meanwhile
	left   []litter    // entries to look for once more, when the claim has lost its name
}

// A litter is a name that may be our own, and is to be removed if it is.
type litter struct{ name, id string }

// run removes the dead one's lock. backend.ErrAgain: the lock is another one now. rival:
// somebody else is at it.
func (k *chain) run() (rival *observation, err error) {
	n, rival, err := k.win()
	if n == 0 {
		return rival, err
	}
	over, err := k.finish()
	if over {
		for i := 1; i < n; i++ {
			_ = k.fs.Unlink(k.entry(i)) // or somebody sweeps it
		}
	}
	k.leave(n)
	return nil, err
}

func (k *chain) entry(n int) string { return k.lock.chainName(k.dead.id(), n) }

// win finds our place in the chain.
func (k *chain) win() (n int, rival *observation, err error) {
	for n := 1; n <= maxChain; n++ {
		// A late request can make it ours after we have left, and then everybody would
		// wait for us, we too.
		k.left = append(k.left, k.own(n))
		won, err := k.claim.linkTo(k.entry(n))
		if won {
			return n, nil, nil
		}
		if err != nil {
			k.leave(n)
			return 0, nil, err
		}
		s, err := k.others.look(k.entry(n), k.claim.now)
		switch {
		case errors.Is(err, errAbsent):
			return 0, nil, backend.ErrAgain
		case err != nil:
			return 0, nil, err
		case s.content.Holds(k.claim.record.ID) && s.stat.Same(k.claim.stat):
			return n, nil, nil // the server made it ours late
		case s.content.Holds(k.claim.record.ID):
			return 0, nil, k.lock.lies("a file has another number under its second name")
		case s.Due > 0:
			return 0, &s, nil
		}
	}
	return 0, nil, k.lock.Address.Unfit("break the lock of a dead holder", "too many died at it before",
		"remove the files "+k.lock.Name+chainMark+"*")
}

// finish looks again and removes the lock. over: it is not the dead one's any more.
func (k *chain) finish() (over bool, err error) {
	s, err := k.others.see(k.lock.Name)
	switch {
	case errors.Is(err, errAbsent):
		return true, backend.ErrAgain
	case err != nil:
		return false, err
	case s.unreadable && !k.dead.unreadable:
		return false, backend.ErrAgain // it may be his still
	case s.id() != k.dead.id():
		return true, backend.ErrAgain
	case s.sign() != k.dead.sign() && !k.force:
		return false, backend.ErrAgain // he lives
	}
	err = k.fs.Unlink(k.lock.Name)
	switch {
	case err == nil, absent(err):
		return true, nil
	case forbidden(err):
		return false, errSticky
	}
	return false, k.lock.fail("remove the lock file of a dead holder", err)
}

// clear removes all that is ours, or somebody sweeps it.
func (k *chain) clear() {
	_ = k.claim.drop()
	for _, x := range k.left {
		_ = x.remove(k.fs)
	}
}

// own is entry n as ours.
func (k *chain) own(n int) litter { return litter{k.entry(n), k.claim.record.ID} }

// leave removes our own entry, if it is there.
func (k *chain) leave(n int) { _ = k.own(n).remove(k.fs) }

// remove reports that what is ours is gone. Somebody else may have a chain entry of
// this name by now.
func (x litter) remove(fs FS) bool {
	_, text, err := fs.Read(x.name)
	switch {
	case absent(err):
		return true
	case err != nil:
		return false
	case !parse(text).Holds(x.id):
		return true
	}
	err = fs.Unlink(x.name)
	return err == nil || absent(err)
}
