//go:build unix

package explore

import (
	"fmt"
	"strings"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/steps"
)

// heed follows what a process did, and notes a violation if that was wrong.
func (x *Explorer) heed(c *world, p int, n actors.Note) {
	q := &c.procs[p]
	switch n.Kind {
	case actors.NoteTry:
		q.swept, q.hopeless = false, x.removed(c, p)
		q.saw, q.sawAt = 0, 0
		q.unfinished = x.unfinished(c)
		q.touched = c.now // the start, in case Try confirms nothing
	case actors.NoteHeld:
		x.granted(c, p, n)
	case actors.NoteGaveUp:
		if q.unfinished && x.unfinished(c) {
			c.violated("%s gives up, %s", x.title(p), Unfinished)
		}
	case actors.NoteReleaseBegins:
		// If an answer was lost, a second call cannot tell whether the first one ended the hold.
		q.mustNotice = q.overtaken && !(q.releasing && (x.Config.Directories != nil || x.Config.Files != nil || x.Config.Objects != nil))
		q.unreserved = !q.releasing && x.unreserved(c, p)
		q.valid, q.releasing = false, true
	case actors.NoteBeatBegins:
		q.mustNotice, q.unreserved = q.overtaken, x.unreserved(c, p)
	case actors.NoteBeat:
		x.answered(c, p, n, "a heartbeat")
		switch n.Out {
		case actors.Gone:
			q.valid = false
		case actors.Done:
			q.confirmed = q.touched
		}
	case actors.NoteReleased:
		x.answered(c, p, n, "a release")
		if n.Out != actors.Unclear {
			q.holding, q.overtaken = false, false
			q.token = 0
			x.checkLocks(c, p)
		}
	case actors.NoteCondemned:
		x.condemn(c, int(n.Token), n.Serial)
	case actors.NoteError:
		if !x.faulty(c) && !x.hasPurged(c) {
			c.violated("%s failed though nothing else did: %s", x.title(p), n.Text)
		}
	case actors.NotePanic:
		c.violated("%s panicked: %s", x.title(p), n.Text)
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
func (x *Explorer) granted(c *world, p int, n actors.Note) {
	q := &c.procs[p]
	q.holding, q.serial, q.token = true, n.Serial, uint32(n.Token)
	q.overtaken, q.mustNotice, q.releasing = false, false, false
	q.confirmed = q.touched
	if (x.Config.Directories != nil || x.Config.Objects != nil) && !x.roles[p].Script {
		x.provenIn(c, p)
	}
	q.valid = x.lasting(p) || c.now < q.confirmed+steps.Millis(x.roles[p].Lease) && q.condemned != n.Serial
	if !q.valid {
		return // the process knows that, or the operator does
	}
	for o := range c.procs {
		if other := &c.procs[o]; o != p && other.holding && (!x.roles[p].Shared || !x.roles[o].Shared) {
			if other.valid && !x.hasty(c) {
				c.violated("%s and %s both hold the lock", x.title(o), x.title(p))
			}
			other.overtaken = true
		}
	}
	if !x.Config.NoTokens && !x.hasty(c) {
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
func (x *Explorer) answered(c *world, p int, n actors.Note, what string) {
	q := &c.procs[p]
	switch {
	case n.Out == actors.Done && q.mustNotice && !x.revived(c, p):
		c.violated("%s: %s succeeded, but somebody else got the lock before it began", x.title(p), what)
	case n.Out == actors.Done && q.unreserved && !x.repeats(c):
		c.violated("%s: %s succeeded, but its reservation was gone before it began", x.title(p), what)
	case n.Out == actors.Unclear && !x.faulty(c):
		c.violated("%s: %s failed though nothing else did: %s", x.title(p), what, n.Text)
	case n.Out == actors.Gone && !x.excusable(c, p):
		c.violated("%s: %s says that the lock is gone, but nobody had a reason to take it", x.title(p), what)
	}
	q.mustNotice, q.unreserved = false, false
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
	lease := steps.Millis(x.roles[p].Lease)
	return q.condemned == q.serial || c.now >= q.confirmed+lease || x.losing(c) || x.repeats(c) || x.hasPurged(c)
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

// unused reports whether a name is an entry in a lock of directories, or a reservation of dir style
// or an entry in it, while its maker has not got the lock yet or has begun to release it.
func (x *Explorer) unused(c *world, name steps.Text) bool {
	d := x.Config.Directories
	if d == nil {
		return false
	}
	base, in := x.names.Base(name), x.names.Base(x.names.Parents[name])
	reserves := !d.Plain && (strings.HasPrefix(base, "r.") || strings.HasPrefix(in, "r."))
	holds := x.isEntry(name) && (d.Plain && in == d.Lock || !d.Plain && in == "lock")
	if !reserves && !holds {
		return false
	}
	m := x.names.Makers[name]
	owner := &c.procs[m.Process]
	return !owner.holding || owner.releasing || owner.serial != m.Serial
}

// checkRemoval: a name may be removed only by its maker; or after the maker crashed, or gave no
// sign of life for a whole lease; or by the operator's word. An empty entry or reservation may
// also be removed if its maker does not rely on it: it has no lock before its first heartbeat, which
// then fails.
func (x *Explorer) checkRemoval(c *world, p int, o steps.Op) {
	if x.Config.Files != nil {
		x.checkUnlink(c, p, o)
		return
	}
	e := c.tree.Get(o.Name)
	if !o.Removes() || e == nil || len(c.tree.Children(x.names, o.Name)) > 0 {
		return
	}
	m := x.names.Makers[o.Name]
	lives := o.Name // the entry that gives signs of life
	if parent := x.names.Parents[o.Name]; x.isEntry(parent) && x.Config.Directories != nil {
		m, lives = x.names.Makers[parent], parent
	}
	if x.Config.Objects != nil {
		if lives = x.reservation(o.Name); x.isNewest(c, o.Name) {
			c.violated("%s removes the newest generation", x.title(p))
		}
		if !c.tree.Has(lives) {
			return // a heartbeat that belongs to nobody
		}
	}
	base := x.names.Base(o.Name)
	if m.Process < 0 || m.Process == p || strings.HasPrefix(base, "s.") && x.Config.Directories == nil || strings.HasPrefix(base, "p.") {
		// A shared directory belongs to nobody, and cannot be removed with a member in it. A
		// probe has served its purpose once it is made.
		return
	}
	owner := &c.procs[m.Process]
	if x.roles[p].Misjudges {
		x.condemn(c, m.Process, m.Serial)
	}
	tidy := strings.HasPrefix(base, "i.") && (x.retired(c, m) || x.repeats(c)) || c.calm && x.retired(c, m)
	if !owner.crashed && !x.silentFor(c, p, lives) && !tidy && owner.condemned != m.Serial && !x.unused(c, o.Name) {
		c.violated("%s removes %s of %s, which is alive", x.title(p), x.short(base), x.title(m.Process))
	}
}

// silent reports whether the maker of an entry gave no sign of life for a whole lease. A later
// sign does not undo that: somebody may have decided already to break the entry.
func (x *Explorer) silent(c *world, name steps.Text) bool {
	e := c.tree.Get(name)
	if c.calm && x.Config.Directories != nil {
		return e != nil && e.Sign == lapsed
	}
	return e != nil && c.now-e.Sign >= steps.Millis(x.Config.Lease)
}

// silentFor reports whether the maker was silent for a lease and for the grace of p.
func (x *Explorer) silentFor(c *world, p int, name steps.Text) bool {
	e := c.tree.Get(name)
	return x.silent(c, name) && (c.calm || c.now-e.Sign >= steps.Millis(x.Config.Lease+x.roles[p].Grace))
}

// lapsed is the sign of an entry that was silent for a lease once.
const lapsed = -1 << 29

// retired reports whether an attempt is over, so that its record means nothing any more.
func (x *Explorer) retired(c *world, m steps.Maker) bool {
	g, q := x.graphs[m.Process], &c.procs[m.Process]
	return g.Op(q.node).Kind == steps.OpDone || g.Serial(q.node) != m.Serial || q.releasing && q.serial == m.Serial
}
