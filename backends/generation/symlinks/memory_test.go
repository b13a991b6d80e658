//go:build unix

package symlinks

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// A memory is a lock directory without a disk, on the time of a synctest bubble.
type memory struct {
	mu   sync.Mutex
	root *node         // nil until Prepare
	skew time.Duration // of the server's clock
	kept []string      // the names that Keep was called with
}

var _ Dir = (*memory)(nil)

// A node is a directory, or a symbolic link if it has a target.
type node struct {
	target   string
	in       map[string]*node
	modified time.Time
}

func (m *memory) newNode() *node {
	return &node{in: map[string]*node{}, modified: time.Now().Add(m.skew)}
}

func (m *memory) Prepare(ctx context.Context) error {
	m.mu.Lock()
	if m.root == nil {
		m.root = m.newNode()
	}
	m.mu.Unlock()
	for _, name := range []string{Reservations, Generations} {
		if err := m.Mkdir(ctx, name); err != nil && err != unix.EEXIST {
			return err
		}
	}
	return nil
}

// find returns a node and its parent.
func (m *memory) find(name string) (parent, found *node, last string) {
	found = m.root
	for step := range strings.SplitSeq(name, "/") {
		if parent, last = found, step; parent == nil {
			return nil, nil, last
		}
		found = parent.in[step]
	}
	return parent, found, last
}

func (m *memory) create(name string, n *node) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, old, last := m.find(name)
	switch {
	case parent == nil:
		return unix.ENOENT
	case old != nil:
		return unix.EEXIST
	}
	parent.in[last] = n
	return nil
}

func (m *memory) Mkdir(_ context.Context, name string) error { return m.create(name, m.newNode()) }

func (m *memory) Symlink(_ context.Context, target, name string) error {
	n := m.newNode()
	n.target = target
	return m.create(name, n)
}

func (m *memory) Rmdir(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, n, last := m.find(name)
	switch {
	case n == nil:
		return unix.ENOENT
	case n.target != "":
		return unix.ENOTDIR
	case len(n.in) > 0:
		return unix.ENOTEMPTY
	}
	delete(parent.in, last)
	return nil
}

func (m *memory) Unlink(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, n, last := m.find(name)
	switch {
	case n == nil:
		return unix.ENOENT
	case n.target == "":
		return unix.EISDIR
	}
	delete(parent.in, last)
	return nil
}

func (m *memory) Rename(_ context.Context, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	oldParent, n, oldLast := m.find(from)
	newParent, there, newLast := m.find(to)
	switch {
	case n == nil || newParent == nil:
		return unix.ENOENT
	case there != nil:
		return unix.ENOTEMPTY
	}
	delete(oldParent.in, oldLast)
	newParent.in[newLast] = n
	return nil
}

func (m *memory) Readlink(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, n, _ := m.find(name)
	switch {
	case n == nil:
		return "", unix.ENOENT
	case n.target == "":
		return "", unix.EINVAL
	}
	return n.target, nil
}

func (m *memory) ReadlinkNow(ctx context.Context, name string) (string, error) {
	return m.Readlink(ctx, name)
}

func (m *memory) List(_ context.Context, name string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, n, _ := m.find(name)
	switch {
	case n == nil:
		return nil, unix.ENOENT
	case n.target != "":
		return nil, unix.ENOTDIR
	}
	var names []string
	for name := range n.in {
		names = append(names, name)
	}
	return names, nil
}

func (m *memory) Touch(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, n, _ := m.find(name)
	if n == nil {
		return unix.ENOENT
	}
	n.modified = time.Now().Add(m.skew)
	return nil
}

func (m *memory) Keep(ctx context.Context, link string, others ...string) {
	m.mu.Lock()
	m.kept = append(m.kept, append(others, link)...)
	m.mu.Unlock()
}

func (m *memory) Look(_ context.Context, name string) (Sight, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, n, _ := m.find(name)
	if n == nil {
		return Sight{}, unix.ENOENT
	}
	s := Sight{Sign: strconv.FormatInt(n.modified.UnixNano(), 36), Modified: n.modified, Links: 2}
	for _, child := range n.in {
		if child.target == "" {
			s.Links++
		}
	}
	return s, nil
}

// Await notices nothing, like a host whose directory another host changes.
func (m *memory) Await(ctx context.Context, _ string, _ process.Process, d time.Duration, _ ...int) {
	clock.Sleep(ctx, bubbleTime{}, d)
}

// An operation is one call of a Dir.
type operation struct {
	call string // "mkdir", "look"…
	name string // its first argument; of symlink, the name that it makes
	do   func() error
}

func (o operation) String() string { return o.call + " " + o.name }

// asks reports that the call goes to the server and changes nothing there.
func (o operation) asks() bool {
	return o.call == "list" || o.call == "look" || o.call == "readlink"
}

// A hooked Dir hands each call to a hook, which makes it or not, and gives the answer.
type hooked struct {
	Dir
	hook func(operation) error
}

func (h hooked) Prepare(ctx context.Context) error {
	return h.hook(operation{"prepare", "", func() error { return h.Dir.Prepare(ctx) }})
}

func (h hooked) Mkdir(ctx context.Context, name string) error {
	return h.hook(operation{"mkdir", name, func() error { return h.Dir.Mkdir(ctx, name) }})
}

func (h hooked) Rmdir(ctx context.Context, name string) error {
	return h.hook(operation{"rmdir", name, func() error { return h.Dir.Rmdir(ctx, name) }})
}

func (h hooked) Rename(ctx context.Context, from, to string) error {
	return h.hook(operation{"rename", from, func() error { return h.Dir.Rename(ctx, from, to) }})
}

func (h hooked) Symlink(ctx context.Context, target, name string) error {
	return h.hook(operation{"symlink", name, func() error { return h.Dir.Symlink(ctx, target, name) }})
}

func (h hooked) Unlink(ctx context.Context, name string) error {
	return h.hook(operation{"unlink", name, func() error { return h.Dir.Unlink(ctx, name) }})
}

func (h hooked) Touch(ctx context.Context, name string) error {
	return h.hook(operation{"touch", name, func() error { return h.Dir.Touch(ctx, name) }})
}

func (h hooked) Keep(ctx context.Context, link string, others ...string) {
	_ = h.hook(operation{"keep", link, func() error { h.Dir.Keep(ctx, link, others...); return nil }})
}

func (h hooked) Readlink(ctx context.Context, name string) (target string, err error) {
	err = h.hook(operation{"readlink", name, func() (err error) { target, err = h.Dir.Readlink(ctx, name); return err }})
	return target, err
}

func (h hooked) ReadlinkNow(ctx context.Context, name string) (string, error) {
	return h.Readlink(ctx, name)
}

func (h hooked) List(ctx context.Context, name string) (names []string, err error) {
	err = h.hook(operation{"list", name, func() (err error) { names, err = h.Dir.List(ctx, name); return err }})
	return names, err
}

func (h hooked) Look(ctx context.Context, name string) (sight Sight, err error) {
	err = h.hook(operation{"look", name, func() (err error) { sight, err = h.Dir.Look(ctx, name); return err }})
	return sight, err
}
