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
	if x.latest(c) == o.Name {
		x.checkPurge(c, &c.tree[i])
		c.exclusive, c.highest = 0, 0 // nobody can know which tokens there were
	}
	c.tree.Remove(x.names, o, c.now)
	x.wake(c, -1)
	c.action = action{kind: purged, op: o}
	emit(c)
}

// aged reports whether an entry may be purged: it has not changed for long, and nothing is in it.
func (x *Explorer) aged(w *world, e *places.Entry) bool {
	place := x.names.Parents[e.Name] == 0 && x.Config.Objects == nil
	return w.left.Purges > 0 && !place && w.now-e.Stamp >= steps.Millis(x.Config.PurgeAge) && len(w.tree.Children(x.names, e.Name)) == 0
}

// checkPurge: the generation of a holder that sends heartbeats never looks so old.
func (x *Explorer) checkPurge(c *world, e *places.Entry) {
	m := x.names.Makers[e.Link]
	if q := &c.procs[m.Process]; !x.hasty(c) && q.holding && q.valid && q.serial == m.Serial {
		c.violated("a purge by age removes the generation of %s, which is alive", x.title(m.Process))
	}
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
