package explore

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Files says what is different if the lock is a file with several names. All files are in one
// directory.
type Files struct {
	// Lock is the name that everybody wants. Turns is the beginning of the names by which
	// breakers take turns.
	Lock, Turns string
	// Local: a file that is open still exists after its last name is gone. Otherwise the server
	// says ESTALE.
	Local bool
	// Reuse: a new file gets the number of a file that is gone.
	Reuse bool
	// Careless: the server may execute late, or a second time, a request to remove the lock
	// itself or a turn. Those names contain nobody's id.
	Careless bool
	// Leftovers is the beginning of the names that may be left at the end.
	Leftovers string
}

// again marks a file whose request was executed a second time.
const again = "~"

// number is the number of a new file.
func (x *Explorer) number(t tree, born text) uint32 {
	if !x.Config.Files.Reuse {
		return uint32(born)
	}
	for n := uint32(1); ; n++ {
		if !slices.ContainsFunc(t, func(e entry) bool { return e.number == n }) {
			return n
		}
	}
}

// serveFile executes a request as the server would.
func (x *Explorer) serveFile(c *world, o op) reply {
	switch o.kind {
	case opCreate:
		return failed(x.makeFile(c, o.name))
	case opWrite, opTouchFile:
		return failed(x.touchFile(c, o))
	case opLink:
		return failed(x.linkFile(c, o))
	case opUnlink:
		i, found := c.tree.search(o.name)
		if !found {
			return failed(unix.ENOENT)
		}
		c.tree = slices.Delete(c.tree, i, i+1)
		return ok(0)
	case opList:
		return c.tree.list(x.names, o.name)
	case opStatFile:
		return x.lookAt(c, c.tree.file(o.name), o)
	}
	return x.lookAt(c, c.tree.get(o.name), o)
}

func (x *Explorer) makeFile(c *world, name text) unix.Errno {
	i, found := c.tree.search(name)
	if found {
		return unix.EEXIST
	}
	born := name
	for c.tree.file(born) != nil {
		born = x.names.of(x.names.texts[born] + again)
	}
	e := entry{name: name, born: born, number: x.number(c.tree, born), stamp: c.now, sign: c.now}
	c.tree = slices.Insert(c.tree, i, e)
	return 0
}

// touchFile also writes. A sign of life after a whole lease of silence does not count.
func (x *Explorer) touchFile(c *world, o op) unix.Errno {
	if c.tree.file(o.name) == nil {
		if x.Config.Files.Local {
			return 0
		}
		return unix.ESTALE
	}
	c.tree.every(o.name, func(e *entry) {
		late := c.now-e.sign >= millis(x.Config.Lease)
		if e.stamp, e.sign = c.now, c.now; late {
			e.sign = lapsed
		}
		if o.kind == opWrite {
			e.link = o.to
		}
	})
	return 0
}

func (x *Explorer) linkFile(c *world, o op) unix.Errno {
	i, found := c.tree.search(o.name)
	from := c.tree.get(o.to)
	switch {
	case from == nil:
		return unix.ENOENT
	case found:
		return unix.EEXIST
	}
	e := *from
	e.name = o.name
	c.tree = slices.Insert(c.tree, i, e)
	return 0
}

// lookAt shows as much of a file as the request asks for.
func (x *Explorer) lookAt(c *world, e *entry, o op) reply {
	switch {
	case e == nil && o.kind == opStatFile && x.Config.Files.Local:
		return ok(x.names.view(view{}))
	case e == nil && o.kind == opStatFile:
		return failed(unix.ESTALE)
	case e == nil:
		return failed(unix.ENOENT)
	}
	v := view{stamp: e.stamp, links: c.tree.links(e.born), number: e.number}
	switch o.kind {
	case opRead:
		v.content = e.link
	case opOpen:
		v = view{born: e.born}
	}
	return ok(x.names.view(v))
}

// stirs reports whether a change may be of use to a process that waits.
func (x *Explorer) stirs(c *world, o op) bool {
	f := x.Config.Files
	switch {
	case x.Config.Objects != nil:
		return !strings.HasPrefix(x.names.texts[o.name], beatPrefix)
	case f == nil:
		return true
	case o.kind == opTouchFile:
		return c.left.Short+c.left.Half+c.left.Full > 0
	}
	name := x.names.texts[o.name]
	return name == f.Lock || strings.HasPrefix(name, f.Turns)
}

// noticed notes what p has seen of the lock.
func (x *Explorer) noticed(c *world, p int, o op) {
	if x.Config.Files == nil || o.name != x.lock || p < 0 {
		return
	}
	switch o.kind {
	case opStat, opRead, opOpen, opLink:
		q := &c.procs[p]
		q.saw, q.sawAt = 0, 0
		if e := c.tree.get(x.lock); e != nil {
			q.saw, q.sawAt = e.born, e.stamp
		}
	}
}

// checkID: no attempt has the id of the attempt before. In an object store, no attempt has the id
// of one whose reservation had no answer either.
func (x *Explorer) checkID(c *world, p int, o op) {
	named := o.kind == opCreate || o.kind == opPut && x.isEntry(o.name)
	if !named || x.roles[p].Script {
		return
	}
	m := x.names.makers[o.name]
	if m.process == p && m.serial == c.procs[p].made {
		c.violated("%s uses an id again: %s", x.title(p), x.short(x.names.texts[o.name]))
	}
	if x.Config.Files != nil {
		c.procs[p].made = m.serial
	}
}

// checkUnlink: a name of a file may be removed only by the file's maker; or after the maker
// crashed, or gave no sign of life for a whole lease; or by the operator's word. And the lock is
// never removed if it is not what it was at the last look.
func (x *Explorer) checkUnlink(c *world, p int, o op) {
	e := c.tree.get(o.name)
	if o.kind != opUnlink || e == nil {
		return
	}
	m := x.names.makers[e.born]
	if m.process < 0 || m.process == p || c.procs[m.process].crashed || e.link == 0 && x.retired(c, m) {
		return
	}
	q := &c.procs[p]
	switch {
	case o.name == x.lock && (q.saw != e.born || q.sawAt != e.stamp):
		c.violated("%s removes the lock of %s, %s", x.title(p), x.title(m.process), Meanwhile)
	case x.silentFor(c, p, o.name), c.procs[m.process].condemned == m.serial, o.name != x.lock && x.retired(c, m):
	default:
		c.violated("%s removes %s of %s, which is alive", x.title(p), x.short(x.names.texts[o.name]), x.title(m.process))
	}
}

// The texts of violations that are known limits.
const (
	// Meanwhile: the process that removes the lock by its name was stopped after its look.
	Meanwhile = "which is not what it was when looked at"
	// Late: the server executes a request late.
	Late = "by a request that is executed late"
)

// checkLate: a request to remove the lock removes only the file for which it was sent.
func (x *Explorer) checkLate(c *world, d request) {
	if x.Config.Files == nil || d.op.kind != opUnlink || d.op.name != x.lock {
		return
	}
	e := c.tree.get(x.lock)
	if e == nil || e.born == d.aim {
		return
	}
	if m := x.names.makers[e.born]; m.process >= 0 && !c.procs[m.process].crashed {
		c.violated("the lock of %s is removed %s", x.title(m.process), Late)
	}
}

// sent is the present request, as it may come again.
func (s stepper) sent(c *world) request {
	r := request{op: s.op, from: int8(s.p)}
	if e := c.tree.get(s.op.name); s.Config.Files != nil && e != nil {
		r.aim = e.born
	}
	return r
}

// forgotten: the server may say that it does not know an open file.
func (s stepper) forgotten() {
	if s.op.kind == opTouchFile || s.op.kind == opStatFile {
		s.answer(lostRequest, func(c *world) reply { c.left.Lost--; return failed(unix.ESTALE) })
	}
}

// sightText says what a look showed.
func (x *Explorer) sightText(o op, v view) string {
	switch o.kind {
	case opOpen:
		return "the file of " + x.who(x.names.makers[v.born])
	case opRead:
		return fmt.Sprintf("file %d, %s, touched at %s", v.number, x.whose(v.content), seconds(v.stamp))
	}
	return fmt.Sprintf("file %d, %d links, touched at %s", v.number, v.links, seconds(v.stamp))
}

func (x *Explorer) whose(content text) string {
	id := longTicket.FindString(x.names.texts[content])
	if id == "" {
		return "not ours"
	}
	return "of " + x.who(makerOf(id))
}
