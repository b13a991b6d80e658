package explore

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// An entry is a directory, a symbolic link or a name of a file on the server.
type entry struct {
	name text
	// link is the content of a symbolic link or a file; 0 for a directory.
	link text
	// stamp is the modification time.
	stamp int32
	// sign is when somebody last made or touched this very entry: the last sign of life that its
	// maker gave by it.
	sign int32
	// Of a file: born is the name under which it was made, which identifies it; number is its
	// number. All names of one file have equal entries, except for the name.
	born   text
	number uint32
	// Of a directory that was staked: born is the name that it had then. pins has a bit for each
	// process that has pinned it.
	pins uint32
}

// A tree is the lock directory on the server, sorted by name.
type tree []entry

func (t tree) encode(b []byte) []byte {
	u := func(v uint64) { b = binary.AppendUvarint(b, v) }
	u(uint64(len(t)))
	for _, e := range t {
		u(uint64(e.name))
		u(uint64(e.link))
		u(uint64(e.stamp))
		u(uint64(uint32(e.sign)))
		u(uint64(e.born))
		u(uint64(e.number))
		u(uint64(e.pins))
	}
	return b
}

// decode reads what encode wrote. u returns the next number.
func (t *tree) decode(u func() uint64) {
	*t = (*t)[:0]
	for range u() {
		*t = append(*t, entry{text(u()), text(u()), int32(u()), int32(uint32(u())), text(u()), uint32(u()), uint32(u())})
	}
}

func (t tree) search(name text) (int, bool) {
	for i := range t {
		if t[i].name >= name {
			return i, t[i].name == name
		}
	}
	return len(t), false
}

func (t tree) get(name text) *entry {
	if i, found := t.search(name); found {
		return &t[i]
	}
	return nil
}

func (t tree) has(name text) bool { return name == 0 || t.get(name) != nil }

// children returns the names in a directory.
func (t tree) children(n *names, dir text) []text {
	var all []text
	for i := range t {
		if n.parents[t[i].name] == dir && t[i].name != dir {
			all = append(all, t[i].name)
		}
	}
	return all
}

// do executes a request as the server would: at once and without caches.
func (t *tree) do(n *names, o op, now int32) reply {
	switch o.kind {
	case opMkdir, opSymlink:
		return failed(t.create(n, entry{name: o.name, link: o.to, stamp: now, sign: now}))
	case opRename, opRenameNew:
		if o.kind == opRenameNew && t.has(o.to) {
			return failed(unix.EEXIST)
		}
		return failed(t.rename(n, o.name, o.to, now))
	case opRmdir, opUnlink:
		return failed(t.remove(n, o, now))
	case opTouch:
		return failed(t.touch(o.name, now))
	case opReadlink:
		return t.readlink(o.name)
	case opLook:
		return t.look(n, o.name)
	case opList:
		return t.list(n, o.name)
	}
	panic("not a request to the server")
}

func (t *tree) create(n *names, e entry) unix.Errno {
	i, found := t.search(e.name)
	switch {
	case found:
		return unix.EEXIST
	case !t.has(n.parents[e.name]):
		return unix.ENOENT
	}
	*t = slices.Insert(*t, i, e)
	t.changed(n, e.name, e.stamp)
	return 0
}

func (t *tree) remove(n *names, o op, now int32) unix.Errno {
	i, found := t.search(o.name)
	switch {
	case !found:
		return unix.ENOENT
	case o.kind == opRmdir && (*t)[i].link != 0:
		return unix.ENOTDIR
	case o.kind == opUnlink && (*t)[i].link == 0:
		return unix.EISDIR
	case len(t.children(n, o.name)) > 0:
		return unix.ENOTEMPTY
	}
	*t = slices.Delete(*t, i, i+1)
	t.changed(n, o.name, now)
	return 0
}

func (t *tree) rename(n *names, from, to text, now int32) unix.Errno {
	switch {
	case !t.has(from), !t.has(n.parents[to]):
		return unix.ENOENT
	case from == to:
		return 0
	case len(t.children(n, to)) > 0:
		return unix.ENOTEMPTY
	}
	if i, found := t.search(to); found {
		*t = slices.Delete(*t, i, i+1)
	}
	for i := range *t {
		if name := (*t)[i].name; name == from || n.below(name, from) {
			(*t)[i].name = n.moved(name, from, to)
		}
	}
	slices.SortFunc(*t, func(a, b entry) int { return int(a.name) - int(b.name) })
	t.changed(n, from, now)
	t.changed(n, to, now)
	return 0
}

func (t tree) touch(name text, now int32) unix.Errno {
	e := t.get(name)
	if e == nil {
		return unix.ENOENT
	}
	e.stamp, e.sign = now, now
	return 0
}

// changed notes that a name came or went in its directory.
func (t tree) changed(n *names, name text, now int32) {
	if e := t.get(n.parents[name]); e != nil {
		e.stamp = now
	}
}

func (t tree) readlink(name text) reply {
	switch e := t.get(name); {
	case e == nil:
		return failed(unix.ENOENT)
	case e.link == 0:
		return failed(unix.EINVAL)
	default:
		return ok(int64(e.link))
	}
}

func (t tree) look(n *names, name text) reply {
	e := t.get(name)
	if e == nil {
		return failed(unix.ENOENT)
	}
	links := int32(2)
	for i := range t {
		if n.parents[t[i].name] == e.name && t[i].link == 0 {
			links++
		}
	}
	return ok(sight{e.stamp, links}.pack())
}

func (t tree) list(n *names, name text) reply {
	if !t.has(name) {
		return failed(unix.ENOENT)
	}
	return ok(int64(n.listing(t.children(n, name))))
}

// file is an entry of a file, by any of its names, or nil.
func (t tree) file(born text) *entry {
	for i := range t {
		if t[i].born == born && born != 0 {
			return &t[i]
		}
	}
	return nil
}

// every calls f with all entries of a file.
func (t tree) every(born text, f func(*entry)) {
	for i := range t {
		if t[i].born == born {
			f(&t[i])
		}
	}
}

func (t tree) links(born text) (n int32) {
	t.every(born, func(*entry) { n++ })
	return n
}
