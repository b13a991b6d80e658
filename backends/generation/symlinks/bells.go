//go:build unix

package symlinks

import (
	"slices"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// Those who use the lock on one host tell each other when they leave it or its queue, with a
// bell (posix.Bell) that is named after their reservation. The bell is there before the
// reservation. A bell that has rung is only a reason to look. Where there is none, on another
// host, in another container, or at an older locksmith's, the pauses decide.

// maxEars is how many bells one waiter listens to. When its predecessor's rings, it is its turn.
// That of the waiter before the predecessor tells when to look whether the predecessor, which
// may be stopped, leaves a free lock to it.
const maxEars = 2

// An ear listens to one bell.
type ear struct {
	fd   int
	name string // of the bell
	left int    // how many are still before us when it rings
}

// bell names the bell of what is, or was, reserved under a ticket.
func (e entry) bell() string { return string(e.kind) + e.ticket.id }

// hang makes the bell of an entry that has our ticket.
func (l *Lock) hang(e entry) posix.Bell {
	if !l.Bells {
		return posix.Bell{}
	}
	return posix.HangBell(e.bell())
}

// replace rings our bell, because that place of ours has ended, and keeps another instead.
func (c *claim) replace(b posix.Bell) {
	c.bell.Ring()
	c.bell = b
}

// listen listens to the nearest before us on this host: of the waiters before us, and before
// those the holder.
func (a *attempt) listen(c front, holder entry) {
	if !a.lock.Bells {
		return
	}
	var ears []ear
	for left := 0; left <= len(c.near) && len(ears) < maxEars; left++ {
		e := holder
		if left < len(c.near) {
			e = c.near[len(c.near)-1-left]
		}
		if x, ok := a.hear(e.bell()); ok {
			x.left = left
			ears = append(ears, x)
		}
	}
	a.stopListening() // to the rest
	a.ears = ears
}

// hear listens to one bell, if there is one.
func (a *attempt) hear(name string) (ear, bool) {
	if i := slices.IndexFunc(a.ears, func(e ear) bool { return e.name == name }); i >= 0 {
		e := a.ears[i]
		a.ears = slices.Delete(a.ears, i, i+1)
		return e, true
	}
	fd, there := posix.HearBell(name)
	return ear{fd: fd, name: name}, there
}

func (a *attempt) stopListening() {
	for _, e := range a.ears {
		_ = unix.Close(e.fd)
	}
	a.ears = nil
}

// hearsPredecessor reports whether a bell tells us when it may be our turn.
func (a *attempt) hearsPredecessor() bool {
	return slices.ContainsFunc(a.ears, func(e ear) bool { return e.left == 0 })
}

// rung reports whether a bell has rung, and whether it may be our turn.
func (a *attempt) rung() (nearer, turn bool) {
	a.ears = slices.DeleteFunc(a.ears, func(e ear) bool {
		if !posix.Rang(e.fd) {
			return false
		}
		_ = unix.Close(e.fd)
		nearer, turn = true, turn || e.left == 0
		a.rank = min(a.rank, e.left)
		return true
	})
	if nearer {
		a.Block.Reached = a.Request.Clock.Now()
	}
	return nearer, turn
}

// descriptors are the descriptors that become readable when a bell rings.
func (a *attempt) descriptors() (all []int) {
	for _, e := range a.ears {
		all = append(all, e.fd)
	}
	return all
}
