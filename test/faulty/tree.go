//go:build unix

package faulty

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Tree is directories and symbolic links in memory, with the answers of a disk.
type Tree struct {
	mu   sync.Mutex
	Root *Node         // nil: not even the directory of the lock is there
	Skew time.Duration // of the server's clock
}

// A Node is a directory, or a symbolic link if it has a target.
type Node struct {
	Target   string
	In       map[string]*Node
	Modified time.Time
}

// Make returns a directory of now.
func (t *Tree) Make() *Node {
	return &Node{In: map[string]*Node{}, Modified: time.Now().Add(t.Skew)}
}

// At calls do with what has a name, nil if nothing has it, with the directory around it and the last
// part of the name. Nobody changes the tree meanwhile.
func (t *Tree) At(name string, do func(parent, n *Node, last string) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return do(t.find(name))
}

func (t *Tree) find(name string) (parent, n *Node, last string) {
	if n, name = t.Root, path.Clean(name); name == "." {
		return nil, n, name
	}
	for step := range strings.SplitSeq(name, "/") {
		if parent, last = n, step; parent == nil {
			return nil, nil, last
		}
		n = parent.In[step]
	}
	return parent, n, last
}

// Add gives a node a name.
func (t *Tree) Add(name string, n *Node) error {
	return t.At(name, func(parent, old *Node, last string) error {
		switch {
		case parent == nil:
			return unix.ENOENT
		case old != nil:
			return unix.EEXIST
		}
		parent.In[last] = n
		return nil
	})
}

// Rmdir removes an empty directory.
func (t *Tree) Rmdir(name string) error {
	return t.At(name, func(parent, n *Node, last string) error {
		switch {
		case n == nil:
			return unix.ENOENT
		case n.Target != "":
			return unix.ENOTDIR
		case len(n.In) > 0:
			return unix.ENOTEMPTY
		}
		delete(parent.In, last)
		return nil
	})
}

// Unlink removes a symbolic link.
func (t *Tree) Unlink(name string) error {
	return t.At(name, func(parent, n *Node, last string) error {
		switch {
		case n == nil:
			return unix.ENOENT
		case n.Target == "":
			return unix.EISDIR
		}
		delete(parent.In, last)
		return nil
	})
}

// Rename replaces an empty directory, unless the name must be fresh.
func (t *Tree) Rename(from, to string, fresh bool) error {
	return t.At(from, func(parent, n *Node, last string) error {
		around, there, as := t.find(to)
		switch {
		case n == nil || around == nil:
			return unix.ENOENT
		case there != nil && fresh:
			return unix.EEXIST
		case there != nil && len(there.In) > 0:
			return unix.ENOTEMPTY
		}
		delete(parent.In, last)
		around.In[as] = n
		return nil
	})
}

// Get returns a copy of what has a name.
func (t *Tree) Get(name string) (copied Node, err error) {
	err = t.At(name, func(_, n *Node, _ string) error {
		if n == nil {
			return unix.ENOENT
		}
		copied = *n
		copied.In = maps.Clone(n.In)
		return nil
	})
	return copied, err
}

// All lists all there is, in order.
func (t *Tree) All() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Root.all("")
}

func (n *Node) all(above string) (names []string) {
	if n == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.In)) {
		names = append(append(names, above+name), n.In[name].all(above+name+"/")...)
	}
	return names
}
