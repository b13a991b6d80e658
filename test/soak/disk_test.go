package soak

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
)

// A disk is a file system in memory, on the time of a synctest bubble.
type disk struct {
	mu    sync.Mutex
	root  *node
	calls int    // that were made
	made  uint64 // files
	kept  int    // what clients that live keep open: files, connections
}

func newDisk() *disk { return &disk{root: newDirectory()} }

// A node is a directory, or a symbolic link if it has a target, or a file if it has a
// number.
type node struct {
	in       map[string]*node
	target   string
	number   uint64
	content  string
	links    uint64
	modified time.Time
}

func newDirectory() *node { return &node{in: map[string]*node{}, modified: time.Now()} }

func (n *node) isDirectory() bool { return n.in != nil }

// entries counts all there is in a directory.
func (n *node) entries() (count int) {
	for _, child := range n.in {
		count += 1 + child.entries()
	}
	return count
}

func (d *disk) entries() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.root.entries()
}

// A client is how one process uses a disk. When it is dead its calls do nothing.
type client struct {
	*disk
	root *node
	life *life
}

// A life is that of a process.
type life struct {
	dead bool
	kept int // what it keeps open
}

func (d *disk) client() client { return client{disk: d, root: d.root, life: &life{}} }

// below is the same client in a directory of its own, which is made.
func (c client) below(name string) client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root.in[name] == nil {
		c.root.in[name] = newDirectory()
	}
	c.root = c.root.in[name]
	return c
}

// die ends all that the process does; what it kept open is closed.
func (c client) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life.dead = true
	c.disk.kept -= c.life.kept
}

// keep counts what is opened, or closed if n is negative.
func (c client) keep(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.life.dead {
		c.life.kept += n
		c.disk.kept += n
	}
}

// do makes a call.
func (c client) do(call func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.dead {
		return unix.EIO
	}
	c.calls++
	return call()
}

// find returns a node, nil if it is not there, and the one in which it is.
func (c client) find(name string) (parent, found *node, last string) {
	found = c.root
	if name == "." {
		return nil, found, name
	}
	for step := range strings.SplitSeq(name, "/") {
		if parent, last = found, step; parent == nil {
			return nil, nil, last
		}
		found = parent.in[step]
	}
	return parent, found, last
}

// get returns a node that is there.
func (c client) get(name string) (*node, error) {
	if _, n, _ := c.find(name); n != nil {
		return n, nil
	}
	return nil, unix.ENOENT
}

// put gives a node a name that was not there.
func (c client) put(name string, n *node) error {
	parent, old, last := c.find(name)
	switch {
	case parent == nil || !parent.isDirectory():
		return unix.ENOENT
	case old != nil:
		return unix.EEXIST
	}
	parent.in[last] = n
	return nil
}

// bubbleTime is the clock of a synctest bubble since its beginning. That of
// clock.Runtime would be negative: it begins with this process, which is later.
type bubbleTime struct{ clock.Runtime }

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (bubbleTime) Now() time.Duration { return time.Since(bubbleStart) }
