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
	"locksmith/test/faulty"
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

// asks reports that a call goes to the server and changes nothing there.
func asks(o faulty.Call) bool { return o.Op == "list" || o.Op == "look" || o.Op == "readlink" }

// hooked is a Dir that hands each call to a hook.
func hooked(dir Dir, hook faulty.Hook) Dir {
	return hookedDir{faulty.Directory{Names: dir, Hook: hook}, dir, dir}
}

type hookedDir struct {
	faulty.Directory
	awaits
	dir Dir
}

type awaits interface {
	Await(ctx context.Context, name string, watched process.Process, d time.Duration, descriptors ...int)
}

func (h hookedDir) Prepare(ctx context.Context) error {
	return h.Make("prepare", "", "", func() error { return h.dir.Prepare(ctx) })
}

func (h hookedDir) Symlink(ctx context.Context, target, name string) error {
	return h.Make("symlink", name, "", func() error { return h.dir.Symlink(ctx, target, name) })
}

func (h hookedDir) Unlink(ctx context.Context, name string) error {
	return h.Make("unlink", name, "", func() error { return h.dir.Unlink(ctx, name) })
}

func (h hookedDir) Touch(ctx context.Context, name string) error {
	return h.Make("touch", name, "", func() error { return h.dir.Touch(ctx, name) })
}

func (h hookedDir) Keep(ctx context.Context, link string, others ...string) {
	_ = h.Make("keep", link, "", func() error { h.dir.Keep(ctx, link, others...); return nil })
}

func (h hookedDir) Readlink(ctx context.Context, name string) (string, error) {
	return faulty.Ask(h.Hook, "readlink", name, func() (string, error) { return h.dir.Readlink(ctx, name) })
}

func (h hookedDir) ReadlinkNow(ctx context.Context, name string) (string, error) {
	return h.Readlink(ctx, name)
}

func (h hookedDir) Look(ctx context.Context, name string) (Sight, error) {
	return faulty.Ask(h.Hook, "look", name, func() (Sight, error) { return h.dir.Look(ctx, name) })
}
