package explore

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
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
func (d *Directories) answer(n *names, t tree, o op) (reply, bool) {
	switch {
	case d == nil:
	case o.kind == opRename && d.NoReplace && t.has(o.name) && t.has(o.to):
		return failed(unix.EEXIST), true
	case o.kind == opRenameNew && d.TwoSteps:
		return failed(unix.EINVAL), true
	case o.kind == opList && d.MissingIsEmpty && !t.has(o.name):
		return ok(int64(n.listing(nil))), true
	case o.kind == opList && d.EmptyIsMissing && len(t.children(n, o.name)) == 0:
		return failed(unix.ENOENT), true
	}
	return reply{}, false
}

// alive is the entry for which a request is a sign of life, or 0.
func (x *Explorer) alive(o op) text {
	switch {
	case o.kind == opTouch:
		return o.name
	case o.kind == opPut:
		return x.reservation(o.name)
	case x.Config.Directories == nil:
		return 0
	case o.kind == opMkdir && x.isEntry(x.names.parents[o.name]):
		return x.names.parents[o.name]
	case o.renames() && x.isEntry(x.names.parents[o.to]):
		return x.names.parents[o.to]
	}
	return 0
}

// isEntry reports whether a name is an entry: a name by which somebody holds or waits.
func (x *Explorer) isEntry(name text) bool {
	if x.Config.Objects != nil {
		return x.reservation(name) == name && name != 0
	}
	base := x.names.base(name)
	return name != 0 && (strings.HasPrefix(base, "x.") || strings.HasPrefix(base, "s."))
}

// vital sets the time of an entry's last sign of life, and that of the reservation that it is in.
func (x *Explorer) vital(c *world, name text, sign int32) {
	e := c.tree.get(name)
	if e == nil {
		return
	}
	e.sign = sign
	if in := x.names.parents[name]; x.names.makers[in] == x.names.makers[name] {
		c.tree.get(in).sign = sign
	}
}

// arrived notes that a rename has moved a directory with what is in it. Those who watch it in its
// new place begin anew.
func (x *Explorer) arrived(c *world, o op) {
	for i := range c.tree {
		if e := &c.tree[i]; e.name == o.to || x.names.below(e.name, o.to) {
			e.sign = c.now
		}
	}
}

// own notes whose the lock is after p's request was executed. doubt says that p does not get the
// answer.
func (x *Explorer) own(c *world, p int, o op, doubt bool) {
	if !x.plain() {
		return
	}
	swept := p >= 0 && c.procs[p].swept // it will not know that the lock is its own
	switch {
	case o.kind == opMkdir && o.name == x.lock, o.renames() && o.to == x.lock:
		c.owner, c.doubt = int8(p), swept || doubt && o.kind == opMkdir
	case (o.kind == opRmdir || o.kind == opRemoveAbandoned) && o.name == x.lock:
		c.owner, c.doubt = nobody, false
	case o.kind == opRmdir && x.names.parents[o.name] == x.lock && len(c.tree.children(x.names, x.lock)) == 0:
		c.owner, c.doubt = int8(p), doubt
	case o.kind == opRmdir && x.isEntry(o.name):
		x.sweep(c, p, o)
	}
}

// sweep: somebody removes an entry from a reservation. If its maker has just made the lock of it,
// the maker cannot tell any more that the lock is its own.
func (x *Explorer) sweep(c *world, p int, o op) {
	maker := x.names.makers[o.name].process
	if maker == p || x.names.makers[x.names.parents[o.name]].process != maker {
		return
	}
	c.procs[maker].swept = true
	if c.owner == int8(maker) {
		c.doubt = true
	}
}

// given notes a request that p gives up without knowing its outcome.
func (x *Explorer) given(c *world, p int, o op) {
	if x.plain() && o.kind == opRmdir && o.name == x.lock && c.owner == int8(p) {
		c.doubt = true
	}
}

// checkLock: in plain style only its owner touches an empty lock.
func (x *Explorer) checkLock(c *world, p int, o op) {
	if !x.plain() || !c.tree.has(x.lock) || len(c.tree.children(x.names, x.lock)) > 0 || c.owner == int8(p) {
		return
	}
	what := ""
	switch {
	case o.kind == opRmdir && o.name == x.lock, o.kind == opRemoveAbandoned && x.abandoned(c, o.name) && !x.orphan(c):
		what = "removes"
	case o.kind == opRename && o.to == x.lock && c.tree.has(o.name) && !x.Config.Directories.NoReplace:
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
	return x.plain() && c.tree.has(x.lock) && len(c.tree.children(x.names, x.lock)) == 0 &&
		(c.owner == nobody || c.doubt || c.procs[c.owner].crashed)
}

// stuck reports whether only a person can remove the orphan, because it was not staked.
func (x *Explorer) stuck(c *world) bool { return x.orphan(c) && c.tree.get(x.lock).born == 0 }

// reap removes an orphan, as a person may do.
func (x *Explorer) reap(c *world, emit func(*world)) {
	d := x.copy(c)
	o := op{kind: opRmdir, name: x.lock}
	r := x.serve(d, o)
	x.own(d, nobody, o, false)
	x.wake(d, nobody)
	d.action = action{kind: reaped, op: o, reply: r}
	x.readClocks(d, emit)
}

// indefensible reports that a request must not be repeated, because nothing could be done about
// it.
func (x *Explorer) indefensible(o op) bool {
	if f := x.Config.Files; f != nil {
		return !f.Careless && o.kind == opUnlink && (o.name == x.lock || strings.HasPrefix(x.names.texts[o.name], f.Turns))
	}
	return x.plain() && !x.Config.Directories.Careless && o.name == x.lock && (o.kind == opMkdir || o.kind == opRmdir || o.kind == opRemoveAbandoned)
}

// isLeftover reports whether a name may be left at the end.
func (x *Explorer) isLeftover(name text) bool {
	d := x.Config.Directories
	text := x.names.texts[name]
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
		if x.Config.Directories != nil && x.silent(c, c.tree[i].name) {
			c.tree[i].sign = lapsed
		}
	}
}

// provenIn: nobody is given a hold whose lease is over, or whose entry was removed before the Try
// began.
func (x *Explorer) provenIn(c *world, p int) {
	q := &c.procs[p]
	switch {
	case c.now >= q.confirmed+millis(x.Config.Lease):
		c.violated("%s is given a hold whose lease is over", x.title(p))
	case q.hopeless == q.serial:
		c.violated("%s is given a hold, but its entry was gone before it tried", x.title(p))
	}
}

// removed is the attempt of p whose entry somebody else has removed, or 0.
func (x *Explorer) removed(c *world, p int) uint8 {
	m := maker{p, c.procs[p].condemned}
	if x.Config.Directories == nil && x.Config.Objects == nil || slices.ContainsFunc(c.tree, func(e entry) bool { return x.isEntry(e.name) && x.names.makers[e.name] == m }) {
		return 0
	}
	return m.serial
}

// pinned executes what the kernel itself does to a directory. Pins belong to the directory,
// whatever its name, and end with the process.
func (x *Explorer) pinned(c *world, p int, o op) (reply, bool) {
	e := c.tree.get(o.name)
	switch o.kind {
	case opUnpin:
		for i := range c.tree {
			if d := &c.tree[i]; d.born == o.name {
				d.pins &^= 1 << p
			}
		}
		return reply{}, true
	case opStake, opPin:
		switch {
		case o.kind == opStake && x.Config.Directories.Unmarked:
			return failed(unix.EOPNOTSUPP), true
		case e == nil:
			return failed(unix.ENOENT), true
		}
		if o.kind == opStake {
			e.born = o.name
		}
		if e.born != 0 {
			e.pins |= 1 << p
		}
		return ok(int64(e.born)), true
	case opRemoveAbandoned:
		if !x.abandoned(c, o.name) {
			return failed(unix.ENOTEMPTY), true
		}
		return failed(c.tree.remove(x.names, op{kind: opRmdir, name: o.name}, c.now)), true
	}
	return reply{}, false
}

// abandoned reports whether a directory is empty, was staked, and is not pinned by anybody who
// lives.
func (x *Explorer) abandoned(c *world, name text) bool {
	e := c.tree.get(name)
	if e == nil || e.born == 0 || len(c.tree.children(x.names, name)) > 0 {
		return false
	}
	for p := range c.procs {
		if e.pins&(1<<p) != 0 && !c.procs[p].crashed && x.op(c, p).kind != opDone {
			return false
		}
	}
	return true
}
