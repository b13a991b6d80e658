package explore

import "golang.org/x/sys/unix"

// pinned executes what a kernel does about a directory itself. Pins are those of the
// directory, whatever its name, and end with the process.
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

// abandoned reports that a directory is empty, was staked, and that nobody who lives has
// pinned it.
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
