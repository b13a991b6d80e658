//go:build unix

// Package places has what locks are in: the tree of directories, files or objects on a server, what
// the client of a host remembers of it, and what the kernel of one machine keeps. Each writes and
// reads its own part of a state.
package places

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/steps"
)

// An Entry is a directory, a symbolic link or a name of a file on the server.
type Entry struct {
	Name steps.Text
	// Link is the content of a symbolic link or a file; 0 for a directory.
	Link steps.Text
	// Stamp is the modification time.
	Stamp int32
	// Sign is when somebody last made or touched this very entry: the last sign of life that its
	// maker gave by it.
	Sign int32
	// Of a file: Born is the name under which it was made, which identifies it. Number is its
	// number. All names of one file have equal entries, except for the name.
	Born   steps.Text
	Number uint32
	// Of a directory that was staked: Born is the name that it had then. Pins has a bit for each
	// process that has pinned it.
	Pins uint32
}

// A Tree is the lock directory on the server, sorted by name.
type Tree []Entry

// Encode writes the tree so that equal trees have equal bytes.
func (t Tree) Encode(b []byte) []byte {
	u := func(v uint64) { b = binary.AppendUvarint(b, v) }
	u(uint64(len(t)))
	for _, e := range t {
		u(uint64(e.Name))
		u(uint64(e.Link))
		u(uint64(e.Stamp))
		u(uint64(uint32(e.Sign)))
		u(uint64(e.Born))
		u(uint64(e.Number))
		u(uint64(e.Pins))
	}
	return b
}

// Decode reads what Encode wrote. u returns the next number.
func (t *Tree) Decode(u func() uint64) {
	*t = (*t)[:0]
	for range u() {
		*t = append(*t, Entry{steps.Text(u()), steps.Text(u()), int32(u()), int32(uint32(u())), steps.Text(u()), uint32(u()), uint32(u())})
	}
}

// Search returns where a name is, or belongs, and whether it is there.
func (t Tree) Search(name steps.Text) (int, bool) {
	for i := range t {
		if t[i].Name >= name {
			return i, t[i].Name == name
		}
	}
	return len(t), false
}

// Get returns the entry of a name, or nil.
func (t Tree) Get(name steps.Text) *Entry {
	if i, found := t.Search(name); found {
		return &t[i]
	}
	return nil
}

// Has reports whether a name exists. The lock directory itself always does.
func (t Tree) Has(name steps.Text) bool { return name == 0 || t.Get(name) != nil }

// Children returns the names in a directory.
func (t Tree) Children(n *steps.Names, dir steps.Text) []steps.Text {
	var all []steps.Text
	for i := range t {
		if n.Parents[t[i].Name] == dir && t[i].Name != dir {
			all = append(all, t[i].Name)
		}
	}
	return all
}

// Do executes a request as the server would: at once and without caches.
func (t *Tree) Do(n *steps.Names, o steps.Op, now int32) steps.Reply {
	switch o.Kind {
	case steps.OpMkdir, steps.OpSymlink:
		return steps.Failed(t.Create(n, Entry{Name: o.Name, Link: o.To, Stamp: now, Sign: now}))
	case steps.OpRename, steps.OpRenameNew:
		if o.Kind == steps.OpRenameNew && t.Has(o.To) {
			return steps.Failed(unix.EEXIST)
		}
		return steps.Failed(t.rename(n, o.Name, o.To, now))
	case steps.OpRmdir, steps.OpUnlink:
		return steps.Failed(t.Remove(n, o, now))
	case steps.OpTouch:
		return steps.Failed(t.touch(o.Name, now))
	case steps.OpKeep:
		for _, name := range n.Listings[o.To] {
			if e := t.Get(name); e != nil {
				e.Stamp = now
			}
		}
		return steps.Reply{}
	case steps.OpReadlink, steps.OpReadlinkNow:
		return t.readlink(o.Name)
	case steps.OpLook:
		return t.look(n, o.Name)
	case steps.OpList:
		return t.List(n, o.Name)
	}
	panic("not a request to the server")
}

// Create adds an entry if its name is free.
func (t *Tree) Create(n *steps.Names, e Entry) unix.Errno {
	i, found := t.Search(e.Name)
	switch {
	case found:
		return unix.EEXIST
	case !t.Has(n.Parents[e.Name]):
		return unix.ENOENT
	}
	*t = slices.Insert(*t, i, e)
	t.changed(n, e.Name, e.Stamp)
	return 0
}

// Remove executes a request to remove a name.
func (t *Tree) Remove(n *steps.Names, o steps.Op, now int32) unix.Errno {
	i, found := t.Search(o.Name)
	switch {
	case !found:
		return unix.ENOENT
	case o.Kind == steps.OpRmdir && (*t)[i].Link != 0:
		return unix.ENOTDIR
	case o.Kind == steps.OpUnlink && (*t)[i].Link == 0:
		return unix.EISDIR
	case len(t.Children(n, o.Name)) > 0:
		return unix.ENOTEMPTY
	}
	*t = slices.Delete(*t, i, i+1)
	t.changed(n, o.Name, now)
	return 0
}

func (t *Tree) rename(n *steps.Names, from, to steps.Text, now int32) unix.Errno {
	switch {
	case !t.Has(from), !t.Has(n.Parents[to]):
		return unix.ENOENT
	case from == to:
		return 0
	case len(t.Children(n, to)) > 0:
		return unix.ENOTEMPTY
	}
	if i, found := t.Search(to); found {
		*t = slices.Delete(*t, i, i+1)
	}
	for i := range *t {
		if name := (*t)[i].Name; name == from || n.Below(name, from) {
			(*t)[i].Name = n.Moved(name, from, to)
		}
	}
	slices.SortFunc(*t, func(a, b Entry) int { return int(a.Name) - int(b.Name) })
	t.changed(n, from, now)
	t.changed(n, to, now)
	return 0
}

func (t Tree) touch(name steps.Text, now int32) unix.Errno {
	e := t.Get(name)
	if e == nil {
		return unix.ENOENT
	}
	e.Stamp, e.Sign = now, now
	return 0
}

// changed notes that a name came or went in its directory.
func (t Tree) changed(n *steps.Names, name steps.Text, now int32) {
	if e := t.Get(n.Parents[name]); e != nil {
		e.Stamp = now
	}
}

func (t Tree) readlink(name steps.Text) steps.Reply {
	switch e := t.Get(name); {
	case e == nil:
		return steps.Failed(unix.ENOENT)
	case e.Link == 0:
		return steps.Failed(unix.EINVAL)
	default:
		return steps.OK(int64(e.Link))
	}
}

func (t Tree) look(n *steps.Names, name steps.Text) steps.Reply {
	e := t.Get(name)
	if e == nil {
		return steps.Failed(unix.ENOENT)
	}
	links := int32(2)
	for i := range t {
		if n.Parents[t[i].Name] == e.Name && t[i].Link == 0 {
			links++
		}
	}
	return steps.OK(steps.Sight{Stamp: e.Stamp, Links: links}.Pack())
}

// List answers a request for the names in a directory.
func (t Tree) List(n *steps.Names, name steps.Text) steps.Reply {
	if !t.Has(name) {
		return steps.Failed(unix.ENOENT)
	}
	return steps.OK(int64(n.Listing(t.Children(n, name))))
}

// File returns an entry of a file, by any of its names, or nil.
func (t Tree) File(born steps.Text) *Entry {
	for i := range t {
		if t[i].Born == born && born != 0 {
			return &t[i]
		}
	}
	return nil
}

// Every calls f with all entries of a file.
func (t Tree) Every(born steps.Text, f func(*Entry)) {
	for i := range t {
		if t[i].Born == born {
			f(&t[i])
		}
	}
}

// Links returns how many names a file has.
func (t Tree) Links(born steps.Text) (n int32) {
	t.Every(born, func(*Entry) { n++ })
	return n
}
