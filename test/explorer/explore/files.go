//go:build unix

package explore

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
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
func (x *Explorer) number(t places.Tree, born steps.Text) uint32 {
	if !x.Config.Files.Reuse {
		return uint32(born)
	}
	for n := uint32(1); ; n++ {
		if !slices.ContainsFunc(t, func(e places.Entry) bool { return e.Number == n }) {
			return n
		}
	}
}

// serveFile executes a request as the server would.
func (x *Explorer) serveFile(c *world, o steps.Op) steps.Reply {
	switch o.Kind {
	case steps.OpCreate:
		return steps.Failed(x.makeFile(c, o.Name))
	case steps.OpWrite, steps.OpTouchFile:
		return steps.Failed(x.touchFile(c, o))
	case steps.OpLink:
		return steps.Failed(x.linkFile(c, o))
	case steps.OpUnlink:
		i, found := c.tree.Search(o.Name)
		if !found {
			return steps.Failed(unix.ENOENT)
		}
		c.tree = slices.Delete(c.tree, i, i+1)
		return steps.OK(0)
	case steps.OpList:
		return c.tree.List(x.names, o.Name)
	case steps.OpStatFile:
		return x.lookAt(c, c.tree.File(o.Name), o)
	}
	return x.lookAt(c, c.tree.Get(o.Name), o)
}

func (x *Explorer) makeFile(c *world, name steps.Text) unix.Errno {
	i, found := c.tree.Search(name)
	if found {
		return unix.EEXIST
	}
	born := name
	for c.tree.File(born) != nil {
		born = x.names.Of(x.names.Texts[born] + again)
	}
	e := places.Entry{Name: name, Born: born, Number: x.number(c.tree, born), Stamp: c.now, Sign: c.now}
	c.tree = slices.Insert(c.tree, i, e)
	return 0
}

// touchFile also writes. A sign of life after a whole lease of silence does not count.
func (x *Explorer) touchFile(c *world, o steps.Op) unix.Errno {
	if c.tree.File(o.Name) == nil {
		if x.Config.Files.Local {
			return 0
		}
		return unix.ESTALE
	}
	c.tree.Every(o.Name, func(e *places.Entry) {
		late := c.now-e.Sign >= steps.Millis(x.Config.Lease)
		if e.Stamp, e.Sign = c.now, c.now; late {
			e.Sign = lapsed
		}
		if o.Kind == steps.OpWrite {
			e.Link = o.To
		}
	})
	return 0
}

func (x *Explorer) linkFile(c *world, o steps.Op) unix.Errno {
	i, found := c.tree.Search(o.Name)
	from := c.tree.Get(o.To)
	switch {
	case from == nil:
		return unix.ENOENT
	case found:
		return unix.EEXIST
	}
	e := *from
	e.Name = o.Name
	c.tree = slices.Insert(c.tree, i, e)
	return 0
}

// lookAt shows as much of a file as the request asks for.
func (x *Explorer) lookAt(c *world, e *places.Entry, o steps.Op) steps.Reply {
	switch {
	case e == nil && o.Kind == steps.OpStatFile && x.Config.Files.Local:
		return steps.OK(x.names.View(steps.View{}))
	case e == nil && o.Kind == steps.OpStatFile:
		return steps.Failed(unix.ESTALE)
	case e == nil:
		return steps.Failed(unix.ENOENT)
	}
	v := steps.View{Stamp: e.Stamp, Links: c.tree.Links(e.Born), Number: e.Number}
	switch o.Kind {
	case steps.OpRead:
		v.Content = e.Link
	case steps.OpOpen:
		v = steps.View{Born: e.Born}
	}
	return steps.OK(x.names.View(v))
}

// stirs reports whether a change may be of use to a process that waits.
func (x *Explorer) stirs(c *world, o steps.Op) bool {
	f := x.Config.Files
	switch {
	case x.Config.Objects != nil:
		return !strings.HasPrefix(x.names.Texts[o.Name], beatPrefix)
	case f == nil:
		return true
	case o.Kind == steps.OpTouchFile:
		return c.left.Short+c.left.Half+c.left.Full > 0
	}
	name := x.names.Texts[o.Name]
	return name == f.Lock || strings.HasPrefix(name, f.Turns)
}

// noticed notes what p has seen of the lock.
func (x *Explorer) noticed(c *world, p int, o steps.Op) {
	if x.Config.Files == nil || o.Name != x.lock || p < 0 {
		return
	}
	switch o.Kind {
	case steps.OpStat, steps.OpRead, steps.OpOpen, steps.OpLink:
		q := &c.procs[p]
		q.saw, q.sawAt = 0, 0
		if e := c.tree.Get(x.lock); e != nil {
			q.saw, q.sawAt = e.Born, e.Stamp
		}
	}
}

// checkID: no attempt has the id of the attempt before. In an object store, no attempt has the id
// of one whose reservation had no answer either.
func (x *Explorer) checkID(c *world, p int, o steps.Op) {
	named := o.Kind == steps.OpCreate || o.Kind == steps.OpPut && x.isEntry(o.Name)
	if !named || x.roles[p].Script {
		return
	}
	m := x.names.Makers[o.Name]
	if m.Process == p && m.Serial == c.procs[p].made {
		c.violated("%s uses an id again: %s", x.title(p), x.short(x.names.Texts[o.Name]))
	}
	if x.Config.Files != nil {
		c.procs[p].made = m.Serial
	}
}

// checkUnlink: a name of a file may be removed only by the file's maker; or after the maker
// crashed, or gave no sign of life for a whole lease; or by the operator's word. And the lock is
// never removed if it is not what it was at the last look.
func (x *Explorer) checkUnlink(c *world, p int, o steps.Op) {
	e := c.tree.Get(o.Name)
	if o.Kind != steps.OpUnlink || e == nil {
		return
	}
	m := x.names.Makers[e.Born]
	if m.Process < 0 || m.Process == p || c.procs[m.Process].crashed || e.Link == 0 && x.retired(c, m) {
		return
	}
	q := &c.procs[p]
	switch {
	case o.Name == x.lock && (q.saw != e.Born || q.sawAt != e.Stamp):
		c.violated("%s removes the lock of %s, %s", x.title(p), x.title(m.Process), Meanwhile)
	case x.silentFor(c, p, o.Name), c.procs[m.Process].condemned == m.Serial, o.Name != x.lock && x.retired(c, m):
	default:
		c.violated("%s removes %s of %s, which is alive", x.title(p), x.short(x.names.Texts[o.Name]), x.title(m.Process))
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
	if x.Config.Files == nil || d.op.Kind != steps.OpUnlink || d.op.Name != x.lock {
		return
	}
	e := c.tree.Get(x.lock)
	if e == nil || e.Born == d.aim {
		return
	}
	if m := x.names.Makers[e.Born]; m.Process >= 0 && !c.procs[m.Process].crashed {
		c.violated("the lock of %s is removed %s", x.title(m.Process), Late)
	}
}

// sent is the present request, as it may come again.
func (s stepper) sent(c *world) request {
	r := request{op: s.op, from: int8(s.p)}
	if e := c.tree.Get(s.op.Name); s.Config.Files != nil && e != nil {
		r.aim = e.Born
	}
	return r
}

// forgotten: the server may say that it does not know an open file.
func (s stepper) forgotten() {
	if s.op.Kind == steps.OpTouchFile || s.op.Kind == steps.OpStatFile {
		s.answer(lostRequest, func(c *world) steps.Reply { c.left.Lost--; return steps.Failed(unix.ESTALE) })
	}
}

// sightText says what a look showed.
func (x *Explorer) sightText(o steps.Op, v steps.View) string {
	switch o.Kind {
	case steps.OpOpen:
		return "the file of " + x.who(x.names.Makers[v.Born])
	case steps.OpRead:
		return fmt.Sprintf("file %d, %s, touched at %s", v.Number, x.whose(v.Content), seconds(v.Stamp))
	}
	return fmt.Sprintf("file %d, %d links, touched at %s", v.Number, v.Links, seconds(v.Stamp))
}

func (x *Explorer) whose(content steps.Text) string {
	id := longTicket.FindString(x.names.Texts[content])
	if id == "" {
		return "not ours"
	}
	return "of " + x.who(steps.MakerOf(id))
}
