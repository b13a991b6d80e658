//go:build unix

package mkdirlock

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/test/faulty"
)

// A patient is a place with something wrong.
type patient struct {
	*memory
	style  Style
	opened int
	// dir returns the Dir of the nth user of the place; nil: the memory for all.
	dir func(n int, m *memory) dirs.Dir
}

func (p *patient) newDir() dirs.Dir {
	p.opened++
	if p.dir == nil {
		return timed{Dir: p.memory, precise: true}
	}
	return p.dir(p.opened, p.memory)
}

// examine must be called in a bubble.
func (p *patient) examine(ctx context.Context) ([]backend.Check, error) {
	l := &Lock{NewDir: p.newDir, Name: "L", Style: p.style, Address: "mkdir:/place/L?style=x", Env: owner.Env{NewID: owner.NewID, Today: time.Now}}
	var all []backend.Check
	err := l.Examine(ctx, backend.Examination{}, func(c backend.Check) { all = append(all, c) })
	return all, err
}

// timed is a Dir that tells times: "old" is a second older than the rest, or younger if
// backwards.
type timed struct {
	dirs.Dir
	precise, silent, backwards bool
}

func (d timed) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	names, err := d.List(ctx, name)
	var all []dirs.Entry
	for _, n := range names {
		e := dirs.Entry{Name: n, Dir: true, Modified: time.Now().Add(3*time.Second + 2*time.Hour), Precise: d.precise}
		switch {
		case d.silent:
			e.Modified = time.Time{}
		case (n == "old") != d.backwards:
			e.Modified = e.Modified.Add(-time.Second)
		}
		if !d.precise {
			e.Modified = e.Modified.Truncate(time.Minute)
		}
		all = append(all, e)
	}
	return all, err
}

// instead makes a Dir that answers one kind of call in another way.
func instead(call string, answer func(o faulty.Call, m *memory) error) func(int, *memory) dirs.Dir {
	return func(_ int, m *memory) dirs.Dir {
		return hooked(m, func(o faulty.Call) error {
			if o.Op != call {
				return o.Do()
			}
			return answer(o, m)
		})
	}
}

func denied(faulty.Call, *memory) error { return unix.EACCES }

// always says that the call succeeded, whatever happened.
func always(o faulty.Call, _ *memory) error {
	_ = o.Do()
	return nil
}

// both lets two calls for the same thing at the same time succeed.
func both() func(faulty.Call, *memory) error {
	var mu sync.Mutex
	now := map[string]int{}
	count := func(key string, by int) int {
		mu.Lock()
		defer mu.Unlock()
		now[key] += by
		return now[key]
	}
	return func(o faulty.Call, _ *memory) error {
		key := o.Name
		if o.Op == "rename" {
			key = o.To
		}
		count(key, 1)
		time.Sleep(time.Millisecond) // in the bubble this waits until both calls are here
		two := count(key, 0) == 2
		time.Sleep(time.Millisecond)
		defer count(key, -1)
		if err := o.Do(); !two {
			return err
		}
		return nil
	}
}

// staleFor makes the second connection list what was there a while ago.
func staleFor(d time.Duration) func(int, *memory) dirs.Dir {
	return func(n int, m *memory) dirs.Dir {
		if n == 1 {
			return m
		}
		return &remembering{memory: m, d: d, seen: map[string]memo{}}
	}
}

type remembering struct {
	*memory
	d    time.Duration
	seen map[string]memo
}

type memo struct {
	names []string
	at    time.Time
}

func (r *remembering) List(ctx context.Context, name string) ([]string, error) {
	if old, ok := r.seen[name]; ok && time.Since(old.at) < r.d {
		return old.names, nil
	}
	names, err := r.memory.List(ctx, name)
	r.seen[name] = memo{names, time.Now()}
	return names, err
}

// removeAll also removes a directory that is not empty.
func removeAll(o faulty.Call, m *memory) error {
	return m.At(o.Name, func(parent, there *faulty.Node, last string) error {
		if there == nil {
			return dirs.Outcome(unix.ENOENT)
		}
		delete(parent.In, last)
		return nil
	})
}

// empties removes all that is in a directory.
func (m *memory) empties(name string) {
	_ = m.At(name, func(_, there *faulty.Node, _ string) error {
		if there != nil {
			clear(there.In)
		}
		return nil
	})
}

// emptyFirst refuses to remove a directory that is not empty, but empties it.
func emptyFirst(o faulty.Call, m *memory) error {
	defer m.empties(o.Name)
	return o.Do()
}

// moveInto renames as mv does: into a target that exists.
func moveInto(o faulty.Call, m *memory) error {
	if _, err := m.Get(o.To); err == nil {
		return m.Rename(context.Background(), o.Name, o.To+o.Name[strings.LastIndex(o.Name, "/"):])
	}
	return o.Do()
}

// replace renames also onto a directory that is not empty.
func replace(o faulty.Call, m *memory) error {
	m.empties(o.To)
	return o.Do()
}

// A delaying Dir removes a directory only when nobody reads it any more.
type delaying struct {
	dirs.Dir
	read string
}

func delayed(_ int, m *memory) dirs.Dir { return &delaying{Dir: timed{Dir: m, precise: true}} }

func (d *delaying) Rmdir(ctx context.Context, name string) error {
	if name == d.read {
		return nil // soon
	}
	return d.Dir.Rmdir(ctx, name)
}

func (d *delaying) Read(name string) (io.Closer, error) {
	d.read = name
	return reading{d}, nil
}

// reading is a directory of a delaying Dir that somebody reads.
type reading struct{ dir *delaying }

func (r reading) Close() error {
	defer func() { r.dir.read = "" }()
	return r.dir.Dir.Rmdir(context.Background(), r.dir.read)
}
