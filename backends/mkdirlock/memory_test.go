//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/process"
	"locksmith/test/faulty"
)

// A memory is a Dir without a disk, on the time of a synctest bubble.
type memory struct {
	mu   sync.Mutex
	root node
	habits
}

// habits are what servers differ in.
type habits struct {
	noOverwrite    bool // rename refuses a target that exists
	missingIsEmpty bool // a listing of a missing directory is empty
	emptyIsRefused bool // a listing of an empty directory is refused
	keepsAll       bool // nothing is ever removed
	keepsNames     bool // nothing is ever renamed
}

var _ dirs.Dir = (*memory)(nil)

// A node is a directory.
type node map[string]node

func newMemory(h habits) *memory { return &memory{root: node{}, habits: h} }

// find returns the directory of a name, nil if there is none, and the directory around it.
func (m *memory) find(name string) (parent, found node, last string) {
	found, name = m.root, path.Clean(name)
	if name == "." {
		return nil, found, name
	}
	for step := range strings.SplitSeq(name, "/") {
		if parent, last = found, step; parent == nil {
			return nil, nil, last
		}
		found = parent[step]
	}
	return parent, found, last
}

func (m *memory) Mkdir(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, old, last := m.find(name)
	switch {
	case parent == nil:
		return dirs.Outcome(unix.ENOENT)
	case old != nil:
		return dirs.Outcome(unix.EEXIST)
	}
	parent[last] = node{}
	return nil
}

func (m *memory) Rmdir(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, n, last := m.find(name)
	switch {
	case n == nil, m.keepsAll:
		return dirs.Outcome(unix.ENOENT)
	case len(n) > 0:
		return dirs.Outcome(unix.ENOTEMPTY)
	}
	delete(parent, last)
	return nil
}

func (m *memory) Rename(_ context.Context, from, to string) error {
	return m.rename(from, to, m.noOverwrite)
}

func (m *memory) rename(from, to string, fresh bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	oldParent, n, oldLast := m.find(from)
	newParent, there, newLast := m.find(to)
	switch {
	case n == nil || newParent == nil || m.keepsNames:
		return dirs.Outcome(unix.ENOENT)
	case there != nil && fresh:
		return dirs.Outcome(unix.EEXIST)
	case len(there) > 0:
		return dirs.Outcome(unix.ENOTEMPTY)
	}
	delete(oldParent, oldLast)
	newParent[newLast] = n
	return nil
}

// A diskMemory is a memory that takes a lock in one step.
type diskMemory struct{ *memory }

func (d diskMemory) RenameNew(_ context.Context, from, to string) error {
	return d.rename(from, to, true)
}

func (d diskMemory) Stake(context.Context, string) (io.Closer, error) {
	return nil, errors.ErrUnsupported
}
func (d diskMemory) Pin(context.Context, string) (io.Closer, error) {
	return nil, errors.ErrUnsupported
}
func (d diskMemory) RemoveAbandoned(context.Context, string) error { return dirs.ErrRefused }

func (m *memory) List(_ context.Context, name string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, n, _ := m.find(name)
	switch {
	case n == nil && !m.missingIsEmpty, n != nil && len(n) == 0 && m.emptyIsRefused:
		return nil, dirs.Outcome(unix.ENOENT)
	}
	return slices.Collect(maps.Keys(n)), nil
}

// Await notices nothing, as with a server that tells nothing by itself.
func (m *memory) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, bubbleTime{}, d)
}

func (m *memory) Close() {}

// tree lists all there is, in order.
func (m *memory) tree() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.root.tree("")
}

func (n node) tree(path string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(n)) {
		all = append(append(all, path+name), n[name].tree(path+name+"/")...)
	}
	return all
}

// cost is how many commands a call takes on an FTP server.
func cost(o faulty.Call) int64 {
	switch o.Op {
	case "rename", "list": // RNFR RNTO; EPSV MLSD
		return 2
	}
	return 1
}

// hooked is a Dir that hands each call to a hook.
func hooked(dir dirs.Dir, hook faulty.Hook) dirs.Dir {
	return hookedDir{faulty.Directory{Names: dir, Hook: hook}, dir}
}

type hookedDir struct {
	faulty.Directory
	rest
}

type rest interface {
	Await(ctx context.Context, name string, watched process.Process, d time.Duration)
	Close()
}
