package explore

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// A belief is what the client of one host has in its cache about a name: that the name does not
// exist (link 0), or the content of the symbolic link. Existing directories need no belief: if
// one is gone, the server answers whatever is done with it.
type belief struct {
	name text
	link text
}

// A page is the last listing of a directory that a host has read.
type page struct {
	dir     text
	listing listing
}

// A host is the NFS client that one or more processes share.
type host struct {
	beliefs []belief // sorted by name
	pages   []page   // sorted by dir; only where listings may be outdated
}

func (h *host) copyFrom(o *host) {
	h.beliefs = append(h.beliefs[:0], o.beliefs...)
	h.pages = append(h.pages[:0], o.pages...)
}

func (h *host) encode(b []byte) []byte {
	u := func(v uint64) { b = binary.AppendUvarint(b, v) }
	u(uint64(len(h.beliefs)))
	for _, x := range h.beliefs {
		u(uint64(x.name))
		u(uint64(x.link))
	}
	u(uint64(len(h.pages)))
	for _, x := range h.pages {
		u(uint64(x.dir))
		u(uint64(x.listing))
	}
	return b
}

// decode reads what encode wrote. u returns the next number.
func (h *host) decode(u func() uint64) {
	h.beliefs, h.pages = h.beliefs[:0], h.pages[:0]
	for range u() {
		h.beliefs = append(h.beliefs, belief{text(u()), text(u())})
	}
	for range u() {
		h.pages = append(h.pages, page{text(u()), listing(u())})
	}
}

func (h *host) belief(name text) (belief, bool) {
	for _, b := range h.beliefs {
		if b.name == name {
			return b, true
		}
	}
	return belief{}, false
}

func (h *host) believe(b belief) {
	h.forget(b.name)
	i := 0
	for i < len(h.beliefs) && h.beliefs[i].name < b.name {
		i++
	}
	h.beliefs = slices.Insert(h.beliefs, i, b)
}

func (h *host) forget(name text) {
	for i := range h.beliefs {
		if h.beliefs[i].name == name {
			h.beliefs = slices.Delete(h.beliefs, i, i+1)
			return
		}
	}
}

// refresh drops all beliefs of the host about names in dir.
func (h *host) refresh(n *names, dir text) {
	h.beliefs = slices.DeleteFunc(h.beliefs, func(b belief) bool { return n.parents[b.name] == dir })
}

func (h *host) page(dir text) listing {
	for _, p := range h.pages {
		if p.dir == dir {
			return p.listing
		}
	}
	return 0
}

func (h *host) dropPage(dir text) {
	h.pages = slices.DeleteFunc(h.pages, func(p page) bool { return p.dir == dir })
}

func (h *host) keepPage(dir text, l listing) {
	h.dropPage(dir)
	i := 0
	for i < len(h.pages) && h.pages[i].dir < dir {
		i++
	}
	h.pages = slices.Insert(h.pages, i, page{dir, l})
}

// misses reports whether the host would say ENOENT without asking the server, for an existing
// name on o's path.
func (h *host) misses(n *names, t tree, o op) bool {
	for _, name := range o.path(n) {
		if b, known := h.belief(name); known && b.link == 0 && t.has(name) {
			return true
		}
	}
	return false
}

// outdated returns the content of a removed or replaced symbolic link, if the host would still
// answer with it.
func (h *host) outdated(t tree, o op) (text, bool) {
	if o.kind != opReadlink {
		return 0, false
	}
	b, known := h.belief(o.name)
	if !known || b.link == 0 {
		return 0, false
	}
	e := t.get(o.name)
	return b.link, e == nil || e.link != b.link
}

// learn puts the server's answer into the host's cache. With tick (NFSv3 within one tick of the
// server's clock) nothing refreshes a whole directory.
func (h *host) learn(n *names, o op, r reply, tick bool) {
	dir := n.parents[o.name]
	absent := r.err == unix.ENOENT
	switch o.kind {
	case opList:
		if r.err == 0 && tick {
			h.keepPage(o.name, listing(r.value))
		}
		h.refreshUnless(tick, n, o.name)
	case opLook:
		h.refreshUnless(tick, n, o.name)
		h.learnName(o.name, 0, absent)
	case opReadlink:
		h.learnName(o.name, text(r.value), absent)
	case opTouch, opStat, opRead, opOpen:
		h.learnName(o.name, 0, absent)
	case opCreate, opLink:
		h.forget(o.name) // also on EEXIST
		if r.err == 0 {
			h.changed(n, dir, tick)
		}
	case opMkdir, opSymlink:
		h.forget(o.name) // also on EEXIST
		if r.err == 0 {
			h.changed(n, dir, tick)
			h.learnName(o.name, o.to, false)
		}
	case opRmdir, opUnlink:
		if r.err == 0 {
			h.changed(n, dir, tick)
		}
		h.learnName(o.name, 0, absent || r.err == 0)
	case opRename, opRenameNew:
		if r.err == 0 {
			h.changed(n, dir, tick)
			h.changed(n, n.parents[o.to], tick)
			h.forget(o.to)
		}
		h.learnName(o.name, 0, absent || r.err == 0)
	}
}

func (h *host) learnName(name, link text, absent bool) {
	switch {
	case absent:
		h.believe(belief{name: name})
	case link != 0:
		h.believe(belief{name: name, link: link})
	default:
		h.forget(name)
	}
}

func (h *host) refreshUnless(tick bool, n *names, dir text) {
	if !tick {
		h.refresh(n, dir)
	}
}

// changed notes that this host itself made a change in dir.
func (h *host) changed(n *names, dir text, tick bool) {
	h.dropPage(dir)
	h.refreshUnless(tick, n, dir)
}
