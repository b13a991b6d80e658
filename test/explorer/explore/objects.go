package explore

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
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
func (x *Explorer) serveObject(c *world, o op) reply {
	i, found := c.tree.search(o.name)
	switch {
	case o.kind == opList:
		return x.names.listed(x.objectsAfter(c, o.name), x.Config.Objects.Page)
	case o.kind == opPutNew && found:
		return failed(unix.EEXIST)
	case o.kind == opPut, o.kind == opPutNew:
		x.putObject(c, o)
		return ok(0)
	case o.kind == opDelete:
		if found {
			c.tree = slices.Delete(c.tree, i, i+1)
		}
		return ok(0) // even if there was none
	case !found:
		return failed(unix.ENOENT)
	}
	return ok(x.shown(&c.tree[i]))
}

// putObject writes an object. A sign of life after a whole lease of silence does not count.
func (x *Explorer) putObject(c *world, o op) {
	alive := x.alive(o)
	late := x.silent(c, alive)
	i, found := c.tree.search(o.name)
	if !found {
		c.tree = slices.Insert(c.tree, i, entry{name: o.name})
	}
	c.tree[i].link = o.to
	if !x.Config.Objects.Still {
		c.tree[i].stamp = c.now
	}
	if late {
		x.vital(c, alive, lapsed)
	} else {
		x.vital(c, alive, c.now)
	}
}

// reservation is the reservation of the ticket that a key contains; 0: the key has no ticket.
func (x *Explorer) reservation(key text) text {
	prefix, ticket, _ := strings.Cut(x.names.texts[key], ".")
	switch prefix + "." {
	case reservationPrefix:
		return key
	case beatPrefix:
		return x.names.of(reservationPrefix + ticket)
	}
	return 0
}

// broken reports whether the reservation of p's hold, an object, is gone.
func (x *Explorer) broken(c *world, p int) bool {
	held := maker{p, c.procs[p].serial}
	return x.Config.Objects != nil && !slices.ContainsFunc(c.tree, func(e entry) bool { return x.isEntry(e.name) && x.names.makers[e.name] == held })
}

func (x *Explorer) isGeneration(key text) bool {
	return strings.HasPrefix(x.names.texts[key], generationPrefix)
}

// isTaking reports whether a request writes a reservation or a generation.
func (x *Explorer) isTaking(o op) bool {
	return o.kind == opPutNew || o.kind == opPut && x.isEntry(o.name)
}

// isNewest reports whether an object is the newest generation.
func (x *Explorer) isNewest(c *world, key text) bool {
	return x.isGeneration(key) && !slices.ContainsFunc(c.tree, func(e entry) bool {
		return x.isGeneration(e.name) && x.names.texts[e.name] > x.names.texts[key]
	})
}

// shown is what a look at an object shows.
func (x *Explorer) shown(e *entry) int64 {
	return x.names.view(view{born: e.name, content: e.link, stamp: e.stamp})
}

// objectsAfter returns the objects after a key, in the order of keys, as a listing shows them.
func (x *Explorer) objectsAfter(c *world, key text) []text {
	var all []text
	for i := range c.tree {
		if x.names.texts[c.tree[i].name] > x.names.texts[key] {
			all = append(all, text(x.shown(&c.tree[i])))
		}
	}
	x.names.inOrder(all)
	return all
}

// endPage is the second half of a listing. What exists in both halves is shown. Each of the other
// objects may be shown or not.
func (s stepper) endPage() {
	first, second := s.names.listings[s.from.procs[s.p].scan], s.objectsAfter(s.from, s.op.name)
	among := func(all []text) func(text) bool {
		return func(o text) bool {
			return slices.ContainsFunc(all, func(p text) bool { return s.names.key(p) == s.names.key(o) })
		}
	}
	both := slices.DeleteFunc(slices.Clone(first), func(o text) bool { return !among(second)(o) })
	either := slices.Concat(slices.DeleteFunc(slices.Clone(first), among(second)), slices.DeleteFunc(slices.Clone(second), among(first)))
	for _, some := range subsets(either) {
		all := slices.Concat(both, some)
		s.names.inOrder(all)
		s.answer(tornEnd, func(c *world) reply {
			c.procs[s.p].scan = 0
			return s.names.listed(all, s.Config.Objects.Page)
		})
	}
}
