//go:build unix

package explore

import (
	"strings"

	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// purge lets somebody who purges by age remove one name. It goes by modification times alone, and
// knows no lock.
func (x *Explorer) purge(w *world, i int, emit func(*world)) {
	if i >= len(w.tree) || !x.aged(w, &w.tree[i]) {
		return
	}
	c := x.copy(w)
	defer x.drop(c)
	c.left.Purges--
	o := steps.Op{Kind: steps.OpDelete, Name: c.tree[i].Name}
	x.checkPurge(c, &c.tree[i])
	if x.latest(c) == o.Name || strings.HasPrefix(x.names.Base(o.Name), "fence.") {
		c.exclusive, c.highest = 0, 0 // nobody can know which tokens there were
	}
	c.tree.Remove(x.names, o, c.now)
	x.own(c, nobody, steps.Op{Kind: steps.OpRmdir, Name: o.Name}, false)
	x.wake(c, -1)
	c.action = action{kind: purged, op: o}
	emit(c)
}

// aged reports whether an entry may be purged: it has not changed for long, and nothing is in it.
func (x *Explorer) aged(w *world, e *places.Entry) bool {
	place := x.names.Parents[e.Name] == 0 && x.Config.Objects == nil && x.Config.Files == nil
	return w.left.Purges > 0 && !place && w.now-e.Stamp >= steps.Millis(x.Config.PurgeAge) && len(w.tree.Children(x.names, e.Name)) == 0
}

// checkPurge: what a holder that sends heartbeats holds by never looks so old.
func (x *Explorer) checkPurge(c *world, e *places.Entry) {
	m := x.holdsBy(c, e)
	if m.Process < 0 {
		return
	}
	if q := &c.procs[m.Process]; !x.hasty(c) && q.holding && q.valid && q.serial == m.Serial {
		c.violated("a purge by age removes %s of %s, which is alive", x.short(x.names.Texts[e.Name]), x.title(m.Process))
	}
}

// holdsBy returns who holds the lock by an entry: the newest generation, the file that is the lock,
// or a directory with signs of life.
func (x *Explorer) holdsBy(c *world, e *places.Entry) steps.Maker {
	switch {
	case x.Config.Files != nil && e.Name == x.lock:
		return x.names.Makers[e.Born]
	case x.Config.Directories != nil:
		return x.names.Makers[e.Name]
	case x.Config.Files == nil && x.latest(c) == e.Name:
		return x.names.Makers[e.Link]
	}
	return steps.Maker{Process: nobody}
}

// latest is the newest generation there is, or 0.
func (x *Explorer) latest(w *world) (latest steps.Text) {
	for _, e := range w.tree {
		name, most := x.names.Texts[e.Name], x.names.Texts[latest]
		if (strings.HasPrefix(name, "G/lock.") || x.isGeneration(e.Name)) && (len(name) > len(most) || len(name) == len(most) && name > most) {
			latest = e.Name
		}
	}
	return latest
}

// hasPurged reports whether anything was purged.
func (x *Explorer) hasPurged(c *world) bool { return c.left.Purges < x.Config.Adversary.Purges }

// hasty reports whether something was purged that a living holder may have made just before. No rule
// of ours keeps somebody else from the lock then.
func (x *Explorer) hasty(c *world) bool {
	return x.hasPurged(c) && x.Config.PurgeAge < 2*x.Config.Lease
}
