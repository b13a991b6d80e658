//go:build unix

package explore

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// Directories says what is different if a lock is made only of directories. Signs of life are
// names that are made or renamed in an entry, x.<id> or s.<id>.
type Directories struct {
	// Lock is the directory with the entries of holders.
	Lock string
	// Plain: that directory itself is the lock, so an empty one has an owner: whoever made it,
	// renamed a directory onto it, or removed the last entry in it.
	Plain bool
	// Session: requests go over one connection, as in FTP. Nobody repeats them. A request that
	// was given up may still be executed later.
	Session bool
	// NoReplace: the server does not rename onto a name that exists.
	NoReplace bool
	// TwoSteps: the file system has no rename that replaces nothing.
	TwoSteps bool
	// Unmarked: the file system cannot mark a directory.
	Unmarked bool
	// MissingIsEmpty: the server lists a missing directory as an empty one.
	MissingIsEmpty bool
	// EmptyIsMissing: the server refuses to list an empty directory.
	EmptyIsMissing bool
	// Careless: in plain style the network may also repeat requests to make or remove the lock
	// itself. They contain no id, so there is no defence.
	Careless bool
}

// nobody owns a lock that its maker does not know of, or that does not exist.
const nobody = -1

// plain reports whether an empty lock belongs to somebody.
func (x *Explorer) plain() bool { return x.Config.Directories != nil && x.Config.Directories.Plain }

// answer is this server's answer to requests that servers answer differently.
func (d *Directories) answer(n *steps.Names, t places.Tree, o steps.Op) (steps.Reply, bool) {
	switch {
	case d == nil:
	case o.Kind == steps.OpRename && d.NoReplace && t.Has(o.Name) && t.Has(o.To):
		return steps.Failed(unix.EEXIST), true
	case o.Kind == steps.OpRenameNew && d.TwoSteps:
		return steps.Failed(unix.EINVAL), true
	case o.Kind == steps.OpList && d.MissingIsEmpty && !t.Has(o.Name):
		return steps.OK(int64(n.Listing(nil))), true
	case o.Kind == steps.OpList && d.EmptyIsMissing && len(t.Children(n, o.Name)) == 0:
		return steps.Failed(unix.ENOENT), true
	}
	return steps.Reply{}, false
}

// alive is the entry for which a request is a sign of life, or 0.
func (x *Explorer) alive(o steps.Op) steps.Text {
	switch {
	case o.Kind == steps.OpTouch:
		return o.Name
	case o.Kind == steps.OpPut:
		return x.reservation(o.Name)
	case x.Config.Directories == nil:
		return 0
	case o.Kind == steps.OpMkdir && x.isEntry(x.names.Parents[o.Name]):
		return x.names.Parents[o.Name]
	case o.Renames() && x.isEntry(x.names.Parents[o.To]):
		return x.names.Parents[o.To]
	}
	return 0
}

// isEntry reports whether a name is an entry: a name by which somebody holds or waits.
func (x *Explorer) isEntry(name steps.Text) bool {
	if x.Config.Objects != nil {
		return x.reservation(name) == name && name != 0
	}
	base := x.names.Base(name)
	return name != 0 && (strings.HasPrefix(base, "x.") || strings.HasPrefix(base, "s."))
}

// vital sets the time of an entry's last sign of life, and that of the reservation that it is in.
func (x *Explorer) vital(c *world, name steps.Text, sign int32) {
	e := c.tree.Get(name)
	if e == nil {
		return
	}
	e.Sign = sign
	if in := x.names.Parents[name]; x.names.Makers[in] == x.names.Makers[name] {
		c.tree.Get(in).Sign = sign
	}
}

// arrived notes that a rename has moved a directory with what is in it. Those who watch it in its
// new place begin anew.
func (x *Explorer) arrived(c *world, o steps.Op) {
	for i := range c.tree {
		if e := &c.tree[i]; e.Name == o.To || x.names.Below(e.Name, o.To) {
			e.Sign = c.now
		}
	}
}

// own notes whose the lock is after p's request was executed. doubt says that p does not get the
// answer.
func (x *Explorer) own(c *world, p int, o steps.Op, doubt bool) {
	if !x.plain() {
		return
	}
	swept := p >= 0 && c.procs[p].swept // it will not know that the lock is its own
	switch {
	case o.Kind == steps.OpMkdir && o.Name == x.lock, o.Renames() && o.To == x.lock:
		c.owner, c.doubt = int8(p), swept || doubt && o.Kind == steps.OpMkdir
	case (o.Kind == steps.OpRmdir || o.Kind == steps.OpRemoveAbandoned) && o.Name == x.lock:
		c.owner, c.doubt = nobody, false
	case o.Kind == steps.OpRmdir && x.names.Parents[o.Name] == x.lock && len(c.tree.Children(x.names, x.lock)) == 0:
		c.owner, c.doubt = int8(p), doubt
	case o.Kind == steps.OpRmdir && x.isEntry(o.Name):
		x.sweep(c, p, o)
	}
}

// sweep: somebody removes an entry from a reservation. If its maker has just made the lock of it,
// the maker cannot tell any more that the lock is its own.
func (x *Explorer) sweep(c *world, p int, o steps.Op) {
	maker := x.names.Makers[o.Name].Process
	if maker == p || x.names.Makers[x.names.Parents[o.Name]].Process != maker {
		return
	}
	c.procs[maker].swept = true
	if c.owner == int8(maker) {
		c.doubt = true
	}
}

// given notes a request that p gives up without knowing its outcome.
func (x *Explorer) given(c *world, p int, o steps.Op) {
	if x.plain() && o.Kind == steps.OpRmdir && o.Name == x.lock && c.owner == int8(p) {
		c.doubt = true
	}
}

// checkLock: in plain style only its owner touches an empty lock.
func (x *Explorer) checkLock(c *world, p int, o steps.Op) {
	if !x.plain() || !c.tree.Has(x.lock) || len(c.tree.Children(x.names, x.lock)) > 0 || c.owner == int8(p) {
		return
	}
	what := ""
	switch {
	case o.Kind == steps.OpRmdir && o.Name == x.lock, o.Kind == steps.OpRemoveAbandoned && x.abandoned(c, o.Name) && !x.orphan(c):
		what = "removes"
	case o.Kind == steps.OpRename && o.To == x.lock && c.tree.Has(o.Name) && !x.Config.Directories.NoReplace:
		what = "replaces"
	default:
		return
	}
	whose := "nobody knows whose"
	if c.owner != nobody {
		whose = x.title(int(c.owner)) + "'s"
	}
	c.violated("%s %s an empty lock directory that is %s", x.title(p), what, whose)
}

// orphan reports whether the lock is an empty directory whose owner cannot know any more that it
// owns it: the owner crashed, or an answer to it was lost, or the server repeated the request.
func (x *Explorer) orphan(c *world) bool {
	return x.plain() && c.tree.Has(x.lock) && len(c.tree.Children(x.names, x.lock)) == 0 &&
		(c.owner == nobody || c.doubt || c.procs[c.owner].crashed)
}

// stuck reports whether only a person can remove the orphan, because it was not staked.
func (x *Explorer) stuck(c *world) bool { return x.orphan(c) && c.tree.Get(x.lock).Born == 0 }

// reap removes an orphan, as a person may do.
func (x *Explorer) reap(c *world, emit func(*world)) {
	d := x.copy(c)
	o := steps.Op{Kind: steps.OpRmdir, Name: x.lock}
	r := x.serve(d, o)
	x.own(d, nobody, o, false)
	x.wake(d, nobody)
	d.action = action{kind: reaped, op: o, reply: r}
	x.readClocks(d, emit)
}

// indefensible reports that a request must not be repeated, because nothing could be done about
// it.
func (x *Explorer) indefensible(o steps.Op) bool {
	if f := x.Config.Files; f != nil {
		return !f.Careless && o.Kind == steps.OpUnlink && (o.Name == x.lock || strings.HasPrefix(x.names.Texts[o.Name], f.Turns))
	}
	return x.plain() && !x.Config.Directories.Careless && o.Name == x.lock && (o.Kind == steps.OpMkdir || o.Kind == steps.OpRmdir || o.Kind == steps.OpRemoveAbandoned)
}

// isLeftover reports whether a name may be left at the end.
func (x *Explorer) isLeftover(name steps.Text) bool {
	d := x.Config.Directories
	text := x.names.Texts[name]
	switch {
	case x.Config.Files != nil:
		return strings.HasPrefix(text, x.Config.Files.Leftovers)
	case x.Config.Objects != nil:
		return x.isGeneration(name)
	case d == nil:
		return strings.HasPrefix(text, "G/lock.") || text == "G" || text == "R"
	case d.Plain:
		return false
	}
	home, _, _ := strings.Cut(d.Lock, "/")
	return text == home || text == d.Lock || strings.HasPrefix(text, home+"/fence.")
}

// acquit marks all entries that are silent at the moment when nothing goes wrong any more.
func (x *Explorer) acquit(c *world) {
	for i := range c.tree {
		if x.Config.Directories != nil && x.silent(c, c.tree[i].Name) {
			c.tree[i].Sign = lapsed
		}
	}
}

// provenIn: nobody is given a hold whose lease is over, or whose entry was removed before the Try
// began. In directories nobody is given a hold that has shown no sign of life since the Try began:
// the helper counts the lease from then on.
func (x *Explorer) provenIn(c *world, p int) {
	q := &c.procs[p]
	switch {
	case c.now >= q.confirmed+steps.Millis(x.Config.Lease):
		c.violated("%s is given a hold whose lease is over", x.title(p))
	case q.hopeless == q.serial:
		c.violated("%s is given a hold, but its entry was gone before it tried", x.title(p))
	case x.Config.Directories != nil && slices.ContainsFunc(c.tree, func(e places.Entry) bool {
		return x.isEntry(e.Name) && x.names.Makers[e.Name] == steps.Maker{Process: p, Serial: q.serial} && e.Sign != lapsed && e.Sign < q.confirmed
	}):
		c.violated("%s is given a hold whose lease began before it tried", x.title(p))
	}
}

// removed is the attempt of p whose entry somebody else has removed, or 0.
func (x *Explorer) removed(c *world, p int) uint8 {
	m := steps.Maker{Process: p, Serial: c.procs[p].condemned}
	if x.Config.Directories == nil && x.Config.Objects == nil || slices.ContainsFunc(c.tree, func(e places.Entry) bool { return x.isEntry(e.Name) && x.names.Makers[e.Name] == m }) {
		return 0
	}
	return m.Serial
}

// pinned executes what the kernel itself does to a directory. Pins belong to the directory,
// whatever its name, and end with the process.
func (x *Explorer) pinned(c *world, p int, o steps.Op) (steps.Reply, bool) {
	e := c.tree.Get(o.Name)
	switch o.Kind {
	case steps.OpUnpin:
		for i := range c.tree {
			if d := &c.tree[i]; d.Born == o.Name {
				d.Pins &^= 1 << p
			}
		}
		return steps.Reply{}, true
	case steps.OpStake, steps.OpPin:
		switch {
		case o.Kind == steps.OpStake && x.Config.Directories.Unmarked:
			return steps.Failed(unix.EOPNOTSUPP), true
		case e == nil:
			return steps.Failed(unix.ENOENT), true
		}
		if o.Kind == steps.OpStake {
			e.Born = o.Name
		}
		if e.Born != 0 {
			e.Pins |= 1 << p
		}
		return steps.OK(int64(e.Born)), true
	case steps.OpRemoveAbandoned:
		if !x.abandoned(c, o.Name) {
			return steps.Failed(unix.ENOTEMPTY), true
		}
		return steps.Failed(c.tree.Remove(x.names, steps.Op{Kind: steps.OpRmdir, Name: o.Name}, c.now)), true
	}
	return steps.Reply{}, false
}

// abandoned reports whether a directory is empty, was staked, and is not pinned by anybody who
// lives.
func (x *Explorer) abandoned(c *world, name steps.Text) bool {
	e := c.tree.Get(name)
	if e == nil || e.Born == 0 || len(c.tree.Children(x.names, name)) > 0 {
		return false
	}
	for p := range c.procs {
		if e.Pins&(1<<p) != 0 && !c.procs[p].crashed && x.op(c, p).Kind != steps.OpDone {
			return false
		}
	}
	return true
}
