//go:build unix

package explore

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// Objects says what is different if the lock is made of objects in a store. Nothing is cached.
// Each request is sent once, though something on its way may send it again.
type Objects struct {
	// Page is how many objects one page of a listing has; 0: all.
	Page int
	// Still: the times that the store tells are always the same.
	Still bool
	// Forgets: Budget.Foreign also makes the store itself say that a reservation does not exist,
	// to a process that reads another's.
	Forgets bool
}

const (
	generationPrefix  = "g."
	reservationPrefix = "r."
	beatPrefix        = "b."
)

// serveObject executes a request as the store would.
func (x *Explorer) serveObject(c *world, o steps.Op) steps.Reply {
	i, found := c.tree.Search(o.Name)
	switch {
	case o.Kind == steps.OpList:
		return x.names.Listed(x.objectsAfter(c, o.Name), x.Config.Objects.Page)
	case o.Kind == steps.OpPutNew && found:
		return steps.Failed(unix.EEXIST)
	case o.Kind == steps.OpPut, o.Kind == steps.OpPutNew:
		x.putObject(c, o)
		return steps.OK(0)
	case o.Kind == steps.OpDelete:
		if found {
			c.tree = slices.Delete(c.tree, i, i+1)
		}
		return steps.OK(0) // even if there was none
	case !found:
		return steps.Failed(unix.ENOENT)
	}
	return steps.OK(x.shown(&c.tree[i]))
}

// putObject writes an object. A sign of life after a whole lease of silence does not count.
func (x *Explorer) putObject(c *world, o steps.Op) {
	alive := x.alive(o)
	late := x.silent(c, alive)
	i, found := c.tree.Search(o.Name)
	if !found {
		c.tree = slices.Insert(c.tree, i, places.Entry{Name: o.Name})
	}
	c.tree[i].Link = o.To
	if !x.Config.Objects.Still {
		c.tree[i].Stamp = c.now
	}
	if late {
		x.vital(c, alive, lapsed)
	} else {
		x.vital(c, alive, c.now)
	}
}

// reservation is the reservation of the ticket that a key contains; 0: the key has no ticket.
func (x *Explorer) reservation(key steps.Text) steps.Text {
	prefix, ticket, _ := strings.Cut(x.names.Texts[key], ".")
	switch prefix + "." {
	case reservationPrefix:
		return key
	case beatPrefix:
		return x.names.Of(reservationPrefix + ticket)
	}
	return 0
}

// unreserved reports whether the reservation of p's hold, an object, is gone.
func (x *Explorer) unreserved(c *world, p int) bool {
	held := steps.Maker{Process: p, Serial: c.procs[p].serial}
	return x.Config.Objects != nil && !slices.ContainsFunc(c.tree, func(e places.Entry) bool { return x.isEntry(e.Name) && x.names.Makers[e.Name] == held })
}

func (x *Explorer) isGeneration(key steps.Text) bool {
	return strings.HasPrefix(x.names.Texts[key], generationPrefix)
}

// isTaking reports whether a request writes a reservation or a generation.
func (x *Explorer) isTaking(o steps.Op) bool {
	return o.Kind == steps.OpPutNew || o.Kind == steps.OpPut && x.isEntry(o.Name)
}

// isNewest reports whether an object is the newest generation.
func (x *Explorer) isNewest(c *world, key steps.Text) bool {
	return x.isGeneration(key) && !slices.ContainsFunc(c.tree, func(e places.Entry) bool {
		return x.isGeneration(e.Name) && x.names.Texts[e.Name] > x.names.Texts[key]
	})
}

// shown is what a look at an object shows.
func (x *Explorer) shown(e *places.Entry) int64 {
	return x.names.View(steps.View{Born: e.Name, Content: e.Link, Stamp: e.Stamp})
}

// objectsAfter returns the objects after a key, in the order of keys, as a listing shows them.
func (x *Explorer) objectsAfter(c *world, key steps.Text) []steps.Text {
	var all []steps.Text
	for i := range c.tree {
		if x.names.Texts[c.tree[i].Name] > x.names.Texts[key] {
			all = append(all, steps.Text(x.shown(&c.tree[i])))
		}
	}
	x.names.InOrder(all)
	return all
}

// endPage is the second half of a listing. What exists in both halves is shown. Each of the other
// objects may be shown or not.
func (s stepper) endPage() {
	first, second := s.names.Listings[s.from.procs[s.p].scan], s.objectsAfter(s.from, s.op.Name)
	among := func(all []steps.Text) func(steps.Text) bool {
		return func(o steps.Text) bool {
			return slices.ContainsFunc(all, func(p steps.Text) bool { return s.names.Key(p) == s.names.Key(o) })
		}
	}
	both := slices.DeleteFunc(slices.Clone(first), func(o steps.Text) bool { return !among(second)(o) })
	either := slices.Concat(slices.DeleteFunc(slices.Clone(first), among(second)), slices.DeleteFunc(slices.Clone(second), among(first)))
	for _, some := range subsets(either) {
		all := slices.Concat(both, some)
		s.names.InOrder(all)
		s.answer(tornEnd, func(c *world) steps.Reply {
			c.procs[s.p].scan = 0
			return s.names.Listed(all, s.Config.Objects.Page)
		})
	}
}
