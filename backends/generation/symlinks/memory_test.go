//go:build unix

package symlinks

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/test/faulty"
)

// A memory is a lock directory without a disk, on the time of a synctest bubble.
type memory struct {
	faulty.Tree
	mu   sync.Mutex
	kept []string // the names that Keep was called with
}

var _ Dir = (*memory)(nil)

func (m *memory) Prepare(ctx context.Context) error {
	m.mu.Lock()
	if m.Root == nil {
		m.Root = m.Make()
	}
	m.mu.Unlock()
	for _, name := range []string{Reservations, Generations} {
		if err := m.Mkdir(ctx, name); err != nil && err != unix.EEXIST {
			return err
		}
	}
	return nil
}

func (m *memory) Mkdir(_ context.Context, name string) error { return m.Add(name, m.Make()) }

func (m *memory) Symlink(_ context.Context, target, name string) error {
	n := m.Make()
	n.Target = target
	return m.Add(name, n)
}

func (m *memory) Rmdir(_ context.Context, name string) error  { return m.Tree.Rmdir(name) }
func (m *memory) Unlink(_ context.Context, name string) error { return m.Tree.Unlink(name) }

func (m *memory) Rename(_ context.Context, from, to string) error {
	return m.Tree.Rename(from, to, true)
}

func (m *memory) Readlink(_ context.Context, name string) (string, error) {
	n, err := m.Get(name)
	if err == nil && n.Target == "" {
		err = unix.EINVAL
	}
	return n.Target, err
}

func (m *memory) ReadlinkNow(ctx context.Context, name string) (string, error) {
	return m.Readlink(ctx, name)
}

func (m *memory) List(_ context.Context, name string) ([]string, error) {
	n, err := m.Get(name)
	if err == nil && n.Target != "" {
		err = unix.ENOTDIR
	}
	return slices.Collect(maps.Keys(n.In)), err
}

func (m *memory) Touch(_ context.Context, name string) error {
	return m.At(name, func(_, n *faulty.Node, _ string) error {
		if n == nil {
			return unix.ENOENT
		}
		n.Modified = time.Now().Add(m.Skew)
		return nil
	})
}

func (m *memory) Keep(ctx context.Context, link string, others ...string) {
	m.mu.Lock()
	m.kept = append(m.kept, append(others, link)...)
	m.mu.Unlock()
}

func (m *memory) Look(_ context.Context, name string) (Sight, error) {
	n, err := m.Get(name)
	if err != nil {
		return Sight{}, err
	}
	s := Sight{Sign: strconv.FormatInt(n.Modified.UnixNano(), 36), Modified: n.Modified, Links: 2}
	for _, child := range n.In {
		if child.Target == "" {
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
