package explore

import (
	"fmt"
	"strings"
)

// heed follows what a process did, and notes a violation if that was wrong.
func (x *Explorer) heed(c *world, p int, n note) {
	q := &c.procs[p]
	switch n.kind {
	case noteTry:
		q.swept, q.hopeless = false, x.removed(c, p)
		q.saw, q.sawAt = 0, 0
		q.touched = c.now // the start, in case Try confirms nothing
		if x.Config.Directories != nil {
			q.touched -= millis(x.Config.Lease) / 4 // Try may rely on what it did up to a quarter of a lease before
		}
	case noteHeld:
		x.granted(c, p, n)
	case noteReleaseBegins:
		// If an answer was lost, a second call cannot tell whether the first one ended the hold.
		q.mustNotice = q.overtaken && !(q.releasing && (x.Config.Directories != nil || x.Config.Files != nil || x.Config.Objects != nil))
		q.broken = !q.releasing && x.broken(c, p)
		q.valid, q.releasing = false, true
	case noteBeatBegins:
		q.mustNotice, q.broken = q.overtaken, x.broken(c, p)
	case noteBeat:
		x.answered(c, p, n, "a heartbeat")
		switch n.out {
		case gone:
			q.valid = false
		case done:
			q.confirmed = q.touched
		}
	case noteReleased:
		x.answered(c, p, n, "a release")
		if n.out != unclear {
			q.holding, q.overtaken = false, false
			q.token = 0
			x.checkLocks(c, p)
		}
	case noteCondemned:
		x.condemn(c, int(n.token), n.serial)
	case noteError:
		if !x.faulty(c) {
			c.violated("%s failed though nothing else did: %s", x.title(p), n.text)
		}
	case notePanic:
		c.violated("%s panicked: %s", x.title(p), n.text)
	}
}

func (w *world) violated(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

// faulty reports whether a request or a reply was lost, or was answered by somebody else. After
// that any call may say that it failed.
func (x *Explorer) faulty(c *world) bool {
	return x.losing(c) || c.left.Foreign < x.Config.Adversary.Foreign
}

// losing reports whether a request or a reply was lost.
func (x *Explorer) losing(c *world) bool { return c.left.Lost < x.Config.Adversary.Lost }

// granted checks that there are never two holders, and that tokens rise.
func (x *Explorer) granted(c *world, p int, n note) {
	q := &c.procs[p]
	q.holding, q.serial, q.token = true, n.serial, uint32(n.token)
	q.overtaken, q.mustNotice, q.releasing = false, false, false
	q.confirmed = q.touched
	if (x.Config.Directories != nil || x.Config.Objects != nil) && !x.roles[p].Script {
		x.provenIn(c, p)
	}
	q.valid = x.lasting(p) || c.now < q.confirmed+millis(x.roles[p].Lease) && q.condemned != n.serial
	if !q.valid {
		return // the process knows that, or the operator does
	}
	for o := range c.procs {
		if other := &c.procs[o]; o != p && other.holding && (!x.roles[p].Shared || !x.roles[o].Shared) {
			if other.valid {
				c.violated("%s and %s both hold the lock", x.title(o), x.title(p))
			}
			other.overtaken = true
		}
	}
	if !x.Config.NoTokens {
		x.rises(c, p)
	}
}

// lasting reports whether only a release ends the holds of p: the kernel keeps them, or p is a
// script. A tool's file has the lease of the process that waits for it.
func (x *Explorer) lasting(p int) bool {
	return x.roles[p].Script && x.Config.Files == nil || x.Config.Kernel != nil
}

func (x *Explorer) rises(c *world, p int) {
	token := c.procs[p].token
	switch shared := x.roles[p].Shared; {
	case token <= c.exclusive, !shared && token <= c.highest, token < c.highest:
		c.violated("%s has token %d, but %d was granted before (%d to an exclusive holder)", x.title(p), token, c.highest, c.exclusive)
	}
	c.highest = max(c.highest, token)
	if !x.roles[p].Shared {
		c.exclusive = max(c.exclusive, token)
	}
}

// answered checks that a process that lost the lock is told so, and no other process is.
func (x *Explorer) answered(c *world, p int, n note, what string) {
	q := &c.procs[p]
	switch {
	case n.out == done && q.mustNotice && !x.revived(c, p):
		c.violated("%s: %s succeeded, but somebody else got the lock before it began", x.title(p), what)
	case n.out == done && q.broken && !x.repeats(c):
		c.violated("%s: %s succeeded, but its reservation was gone before it began", x.title(p), what)
	case n.out == unclear && !x.faulty(c):
		c.violated("%s: %s failed though nothing else did: %s", x.title(p), what, n.text)
	case n.out == gone && !x.excusable(c, p):
		c.violated("%s: %s says that the lock is gone, but nobody had a reason to take it", x.title(p), what)
	}
	q.mustNotice, q.broken = false, false
}

// revived reports whether the server may have made the reservation again that the operator
// removed. Then only the operator's word tells the holder that it lost the lock.
func (x *Explorer) revived(c *world, p int) bool {
	return x.Config.Objects == nil && c.procs[p].condemned == c.procs[p].serial && x.repeats(c)
}

// repeats reports whether the server executes or has executed a request twice or late.
func (x *Explorer) repeats(c *world) bool { return c.left.Dups < x.Config.Adversary.Dups }

// excusable reports whether a holder may have lost the lock: by its lease, by the operator, or
// because the adversary's meddling with requests made it seem so.
func (x *Explorer) excusable(c *world, p int) bool {
	q := &c.procs[p]
	lease := millis(x.roles[p].Lease)
	return q.condemned == q.serial || c.now >= q.confirmed+lease || x.losing(c) || x.repeats(c)
}

func (x *Explorer) condemn(c *world, p int, serial uint8) {
	if p < 0 || p >= len(c.procs) {
		return
	}
	q := &c.procs[p]
	q.condemned = serial
	if q.holding && q.serial == serial {
		q.valid = false
	}
}

// unused reports whether a name is an entry in a lock of directories, while its maker has not got
// the lock yet or has begun to release it.
func (x *Explorer) unused(c *world, name text) bool {
	d := x.Config.Directories
	if d == nil || !x.isEntry(name) {
		return false
	}
	in := x.names.base(x.names.parents[name])
	if d.Plain && in != d.Lock || !d.Plain && in != "lock" {
		return false
	}
	m := x.names.makers[name]
	owner := &c.procs[m.process]
	return !owner.holding || owner.releasing || owner.serial != m.serial
}

// checkRemoval: a name may be removed only by its maker; or after the maker crashed, or gave no
// sign of life for a whole lease; or by the operator's word. An empty entry in the lock may also
// be removed if its maker does not rely on it.
func (x *Explorer) checkRemoval(c *world, p int, o op) {
	if x.Config.Files != nil {
		x.checkUnlink(c, p, o)
		return
	}
	e := c.tree.get(o.name)
	if !o.removes() || e == nil || len(c.tree.children(x.names, o.name)) > 0 {
		return
	}
	m := x.names.makers[o.name]
	lives := o.name // the entry that gives signs of life
	if parent := x.names.parents[o.name]; x.isEntry(parent) && x.Config.Directories != nil {
		m, lives = x.names.makers[parent], parent
	}
	if x.Config.Objects != nil {
		if lives = x.reservation(o.name); x.isNewest(c, o.name) {
			c.violated("%s removes the newest generation", x.title(p))
		}
		if !c.tree.has(lives) {
			return // a heartbeat that belongs to nobody
		}
	}
	base := x.names.base(o.name)
	if m.process < 0 || m.process == p || strings.HasPrefix(base, "s.") && x.Config.Directories == nil || strings.HasPrefix(base, "p.") {
		// A shared directory belongs to nobody, and cannot be removed with a member in it. A
		// probe has served its purpose once it is made.
		return
	}
	owner := &c.procs[m.process]
	if x.roles[p].Misjudges {
		x.condemn(c, m.process, m.serial)
	}
	tidy := strings.HasPrefix(base, "i.") && (x.retired(c, m) || x.repeats(c)) || c.calm && x.retired(c, m)
	if !owner.crashed && !x.silentFor(c, p, lives) && !tidy && owner.condemned != m.serial && !x.unused(c, o.name) {
		c.violated("%s removes %s of %s, which is alive", x.title(p), x.short(base), x.title(m.process))
	}
}

// silent reports whether the maker of an entry gave no sign of life for a whole lease. A later
// sign does not undo that: somebody may have decided already to break the entry.
func (x *Explorer) silent(c *world, name text) bool {
	e := c.tree.get(name)
	if c.calm && x.Config.Directories != nil {
		return e != nil && e.sign == lapsed
	}
	return e != nil && c.now-e.sign >= millis(x.Config.Lease)
}

// silentFor reports whether the maker was silent for a lease and for the grace of p.
func (x *Explorer) silentFor(c *world, p int, name text) bool {
	e := c.tree.get(name)
	return x.silent(c, name) && (c.calm || c.now-e.sign >= millis(x.Config.Lease+x.roles[p].Grace))
}

// lapsed is the sign of an entry that was silent for a lease once.
const lapsed = -1 << 29

// retired reports whether an attempt is over, so that its record means nothing any more.
func (x *Explorer) retired(c *world, m maker) bool {
	g, q := x.graphs[m.process], &c.procs[m.process]
	n := &g.nodes[q.node]
	return n.op.kind == opDone || n.serial != m.serial || q.releasing && q.serial == m.serial
}
