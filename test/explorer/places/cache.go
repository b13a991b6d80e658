//go:build unix

package places

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/steps"
)

// A belief is what the client of one host has in its cache about a name: that the name does not
// exist (link 0), or the content of the symbolic link. Existing directories need no belief: if
// one is gone, the server answers whatever is done with it.
type belief struct {
	name steps.Text
	link steps.Text
}

// A page is the last listing of a directory that a host has read.
type page struct {
	dir     steps.Text
	listing steps.Listing
}

// A Client is the NFS client of one host. The processes there share it.
type Client struct {
	beliefs []belief // sorted by name
	pages   []page   // sorted by dir; only where listings may be outdated
}

// CopyFrom makes h the same as o.
func (h *Client) CopyFrom(o *Client) {
	h.beliefs = append(h.beliefs[:0], o.beliefs...)
	h.pages = append(h.pages[:0], o.pages...)
}

// Encode writes the cache so that equal caches have equal bytes.
func (h *Client) Encode(b []byte) []byte {
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

// Decode reads what Encode wrote. u returns the next number.
func (h *Client) Decode(u func() uint64) {
	h.beliefs, h.pages = h.beliefs[:0], h.pages[:0]
	for range u() {
		h.beliefs = append(h.beliefs, belief{steps.Text(u()), steps.Text(u())})
	}
	for range u() {
		h.pages = append(h.pages, page{steps.Text(u()), steps.Listing(u())})
	}
}

func (h *Client) belief(name steps.Text) (belief, bool) {
	for _, b := range h.beliefs {
		if b.name == name {
			return b, true
		}
	}
	return belief{}, false
}

func (h *Client) believe(b belief) {
	h.forget(b.name)
	i := 0
	for i < len(h.beliefs) && h.beliefs[i].name < b.name {
		i++
	}
	h.beliefs = slices.Insert(h.beliefs, i, b)
}

func (h *Client) forget(name steps.Text) {
	for i := range h.beliefs {
		if h.beliefs[i].name == name {
			h.beliefs = slices.Delete(h.beliefs, i, i+1)
			return
		}
	}
}

// refresh drops all beliefs of the host about names in dir.
func (h *Client) refresh(n *steps.Names, dir steps.Text) {
	h.beliefs = slices.DeleteFunc(h.beliefs, func(b belief) bool { return n.Parents[b.name] == dir })
}

// Page returns the last listing of a directory that the host has read, if it keeps that.
func (h *Client) Page(dir steps.Text) steps.Listing {
	for _, p := range h.pages {
		if p.dir == dir {
			return p.listing
		}
	}
	return 0
}

func (h *Client) dropPage(dir steps.Text) {
	h.pages = slices.DeleteFunc(h.pages, func(p page) bool { return p.dir == dir })
}

func (h *Client) keepPage(dir steps.Text, l steps.Listing) {
	h.dropPage(dir)
	i := 0
	for i < len(h.pages) && h.pages[i].dir < dir {
		i++
	}
	h.pages = slices.Insert(h.pages, i, page{dir, l})
}

// Misses reports whether the host would say ENOENT without asking the server, for an existing
// name on o's path.
func (h *Client) Misses(n *steps.Names, t Tree, o steps.Op) bool {
	for _, name := range o.Path(n) {
		if b, known := h.belief(name); known && b.link == 0 && t.Has(name) {
			return true
		}
	}
	return false
}

// Outdated returns the content of a removed or replaced symbolic link, if the host would still
// answer with it.
func (h *Client) Outdated(t Tree, o steps.Op) (steps.Text, bool) {
	if o.Kind != steps.OpReadlink {
		return 0, false
	}
	b, known := h.belief(o.Name)
	if !known || b.link == 0 {
		return 0, false
	}
	e := t.Get(o.Name)
	return b.link, e == nil || e.Link != b.link
}

// Learn puts the server's answer into the host's cache. With tick (NFSv3 within one tick of the
// server's clock) nothing refreshes a whole directory.
func (h *Client) Learn(n *steps.Names, o steps.Op, r steps.Reply, tick bool) {
	dir := n.Parents[o.Name]
	absent := r.Err == unix.ENOENT
	switch o.Kind {
	case steps.OpList:
		if r.Err == 0 && tick {
			h.keepPage(o.Name, steps.Listing(r.Value))
		}
		h.refreshUnless(tick, n, o.Name)
	case steps.OpLook:
		h.refreshUnless(tick, n, o.Name)
		h.learnName(o.Name, 0, absent)
	case steps.OpReadlink, steps.OpReadlinkNow:
		h.learnName(o.Name, steps.Text(r.Value), absent)
	case steps.OpTouch, steps.OpStat, steps.OpRead, steps.OpOpen:
		h.learnName(o.Name, 0, absent)
	case steps.OpCreate, steps.OpLink:
		h.forget(o.Name) // also on EEXIST
		if r.Err == 0 {
			h.changed(n, dir, tick)
		}
	case steps.OpMkdir, steps.OpSymlink:
		h.forget(o.Name) // also on EEXIST
		if r.Err == 0 {
			h.changed(n, dir, tick)
			h.learnName(o.Name, o.To, false)
		}
	case steps.OpRmdir, steps.OpUnlink:
		if r.Err == 0 {
			h.changed(n, dir, tick)
		}
		h.learnName(o.Name, 0, absent || r.Err == 0)
	case steps.OpRename, steps.OpRenameNew:
		if r.Err == 0 {
			h.changed(n, dir, tick)
			h.changed(n, n.Parents[o.To], tick)
			h.forget(o.To)
		}
		h.learnName(o.Name, 0, absent || r.Err == 0)
	}
}

func (h *Client) learnName(name, link steps.Text, absent bool) {
	switch {
	case absent:
		h.believe(belief{name: name})
	case link != 0:
		h.believe(belief{name: name, link: link})
	default:
		h.forget(name)
	}
}

func (h *Client) refreshUnless(tick bool, n *steps.Names, dir steps.Text) {
	if !tick {
		h.refresh(n, dir)
	}
}

// changed notes that this host itself made a change in dir.
func (h *Client) changed(n *steps.Names, dir steps.Text, tick bool) {
	h.dropPage(dir)
	h.refreshUnless(tick, n, dir)
}
