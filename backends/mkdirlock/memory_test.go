//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/process"
	"locksmith/test/faulty"
)

// A memory is a Dir without a disk, on the time of a synctest bubble.
type memory struct {
	faulty.Tree
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

func newMemory(h habits) *memory {
	m := &memory{habits: h}
	m.Root = m.Make()
	return m
}

func (m *memory) Mkdir(_ context.Context, name string) error {
	return dirs.Outcome(m.Add(name, m.Make()))
}

func (m *memory) Rmdir(_ context.Context, name string) error {
	if m.keepsAll {
		return dirs.Outcome(unix.ENOENT)
	}
	return dirs.Outcome(m.Tree.Rmdir(name))
}

func (m *memory) Rename(_ context.Context, from, to string) error {
	return m.rename(from, to, m.noOverwrite)
}

func (m *memory) rename(from, to string, fresh bool) error {
	if m.keepsNames {
		return dirs.Outcome(unix.ENOENT)
	}
	return dirs.Outcome(m.Tree.Rename(from, to, fresh))
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
	n, err := m.Get(name)
	if err != nil && !m.missingIsEmpty || err == nil && len(n.In) == 0 && m.emptyIsRefused {
		return nil, dirs.Outcome(unix.ENOENT)
	}
	return slices.Collect(maps.Keys(n.In)), nil
}

// Await notices nothing, as with a server that tells nothing by itself.
func (m *memory) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, bubbleTime{}, d)
}

func (m *memory) Close() {}

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
