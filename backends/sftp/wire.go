//go:build unix

package sftp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The packets that we send and understand (draft-ietf-secsh-filexfer-02, section 3).
const (
	typeInit     = 1
	typeVersion  = 2
	typeClose    = 4
	typeLstat    = 7
	typeSetstat  = 9
	typeOpendir  = 11
	typeReaddir  = 12
	typeRemove   = 13
	typeMkdir    = 14
	typeRmdir    = 15
	typeRealpath = 16
	typeRename   = 18
	typeReadlink = 19
	typeSymlink  = 20
	typeExtended = 200

	typeStatus = 101
	typeHandle = 102
	typeName   = 104
	typeAttrs  = 105
)

// version is the version of the protocol that all servers speak.
const version = 3

// maxPacket bounds what a server may send as one reply: OpenSSH sends 256 KiB at most.
const maxPacket = 1 << 20

var errMalformed = errors.New("the server sent a reply that cannot be read")

// A packet is a packet that is being written. Its length is put in front when it is sent.
type packet []byte

func newPacket(kind byte) packet { return packet{0, 0, 0, 0, kind} }

func (p packet) uint32(n uint32) packet { return binary.BigEndian.AppendUint32(p, n) }

func (p packet) string(s string) packet { return append(p.uint32(uint32(len(s))), s...) }

func (p packet) attrs(a attrs) packet {
	p = p.uint32(a.flags)
	if a.flags&hasMode != 0 {
		p = p.uint32(a.mode)
	}
	if a.flags&hasTimes != 0 {
		p = p.uint32(max(a.accessed, a.modified)).uint32(a.modified)
	}
	return p
}

// bytes is the packet as it is sent.
func (p packet) bytes() []byte {
	binary.BigEndian.PutUint32(p, uint32(len(p)-4))
	return p
}

// readPacket reads one packet: its type and what follows.
func readPacket(r io.Reader) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxPacket {
		return 0, nil, fmt.Errorf("%w: it begins with %q", errMalformed, head[:])
	}
	body = make([]byte, n-1)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return head[4], body, nil
}

// A reader takes a reply apart. After the reply's end it returns zeros, and is bad.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n uint32) []byte {
	if r.bad || uint64(n) > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uint32() uint32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

func (r *reader) string() string { return string(r.take(r.uint32())) }

// Which attributes there are (section 5).
const (
	hasSize     = 1
	hasOwner    = 2
	hasMode     = 4
	hasTimes    = 8
	hasExtended = 1 << 31
)

// The types of files, as in the mode of stat(2) on most systems.
const (
	modeType = 0o170000
	modeDir  = 0o040000
	modeLink = 0o120000
	modeFile = 0o100000
)

// attrs are what a server tells of a file.
type attrs struct {
	flags    uint32
	mode     uint32 // with the type
	user     uint32 // by the server's numbers; 0: root, or not told
	modified uint32 // seconds since 1970, by the server's clock
	accessed uint32 // only in what we send; below modified: the same as that
}

func (a attrs) is(kind uint32) bool { return a.flags&hasMode != 0 && a.mode&modeType == kind }

func (r *reader) attrs() attrs {
	a := attrs{flags: r.uint32()}
	if a.flags&hasSize != 0 {
		r.take(8)
	}
	if a.flags&hasOwner != 0 {
		a.user = r.uint32()
		r.take(4)
	}
	if a.flags&hasMode != 0 {
		a.mode = r.uint32()
	}
	if a.flags&hasTimes != 0 {
		r.take(4)
		a.modified = r.uint32()
	}
	if a.flags&hasExtended != 0 {
		for n := r.uint32(); n > 0 && !r.bad; n-- {
			r.take(r.uint32())
			r.take(r.uint32())
		}
	}
	return a
}

// An item is a name, and what the server tells of it.
type item struct {
	name  string
	attrs attrs
}

// names are the names of a reply to READDIR or READLINK.
func (r *reader) names() []item {
	var all []item
	for n := r.uint32(); n > 0 && !r.bad; n-- {
		i := item{name: r.string()}
		r.string() // as "ls -l" shows it
		i.attrs = r.attrs()
		all = append(all, i)
	}
	return all
}
