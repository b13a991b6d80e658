//go:build unix

package mkdirlock

import (
	"context"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A dated Dir is a memory that tells when each directory last changed, and lets a
// hook do each call. In it, "P" is the directory of locks.
type dated struct {
	*memory
	hook    func(operation) error
	minutes bool // to the minute only
	mu      sync.Mutex
	changed map[string]time.Time
}

func newDated(m *memory) *dated {
	d := &dated{memory: m, changed: map[string]time.Time{}}
	d.hook = func(o operation) error { return o.do() }
	return d
}

func (d *dated) Mkdir(ctx context.Context, name string) error {
	return d.hook(operation{"mkdir", name, "", func() error {
		return d.touch(d.memory.Mkdir(ctx, name), name, path.Dir(name))
	}})
}

func (d *dated) Rmdir(ctx context.Context, name string) error {
	return d.hook(operation{"rmdir", name, "", func() error {
		return d.touch(d.memory.Rmdir(ctx, name), path.Dir(name))
	}})
}

func (d *dated) Rename(ctx context.Context, from, to string) error {
	return d.hook(operation{"rename", from, to, func() error {
		return d.touch(d.memory.Rename(ctx, from, to), path.Dir(from), path.Dir(to))
	}})
}

func (d *dated) List(ctx context.Context, name string) (names []string, err error) {
	err = d.hook(operation{"list", name, "", func() (err error) { names, err = d.memory.List(ctx, name); return err }})
	return names, err
}

func (d *dated) Entries(ctx context.Context, name string) (all []Entry, err error) {
	err = d.hook(operation{"entries", name, "", func() error {
		names, err := d.memory.List(ctx, name)
		for _, n := range names {
			all = append(all, d.entry(name, n))
		}
		return err
	}})
	if err != nil {
		all = nil
	}
	return all, err
}

func (d *dated) entry(in, name string) Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := Entry{Name: name, Dir: true, Modified: d.changed[in+"/"+name], Precise: !d.minutes}
	if d.minutes {
		e.Modified = e.Modified.Truncate(time.Minute)
	}
	return e
}

func (d *dated) touch(err error, names ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		if err == nil {
			d.changed[name] = time.Now()
		}
	}
	return err
}

// has makes directories, past the hook.
func (d *dated) has(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		mustWork(t, d.touch(d.memory.Mkdir(t.Context(), name), name, path.Dir(name)))
	}
}

// held makes a lock with an entry of somebody unknown, who has beaten once, and
// returns the path of the entry.
func (d *dated) held(t *testing.T, name string, lease time.Duration) string {
	t.Helper()
	e := name + "/" + entry{exclusive, ticket{lease, owner.NewID()}}.String()
	d.has(t, name, e, e+"/1.1.x")
	return e
}

// beats moves a heartbeat, past the hook.
func (d *dated) beats(t *testing.T, entry string) {
	t.Helper()
	mustWork(t, d.touch(d.memory.Rename(t.Context(), entry+"/1.1.x", entry+"/2.1.x"), entry))
}

// replaced is another one's lock of the same name, past the hook.
func (d *dated) replaced(t *testing.T, name string) {
	t.Helper()
	mustWork(t, d.memory.Rmdir(t.Context(), name))
	d.has(t, name)
}

func placeOf(d Dir) *Lock {
	return &Lock{
		NewDir: func() Dir { return d }, Name: "P", Address: "mkdir:/srv/P", NewID: owner.NewID, Today: time.Now,
		Judge: func(owner.Record) owner.Verdict { return owner.Unknown },
	}
}

// removal asks to remove what is older than an hour.
var removal = backend.Reaping{MaxAge: time.Hour, Remove: true, Watch: time.Minute, Clock: bubbleTime{}}

// reaped reaps P, and returns what is said of each.
func reaped(t *testing.T, d Dir, r backend.Reaping) map[string]backend.Reaped {
	t.Helper()
	all, err := placeOf(d).Reap(t.Context(), r)
	mustWork(t, err)
	return byPath(all)
}

func byPath(all []backend.Reaped) map[string]backend.Reaped {
	by := map[string]backend.Reaped{}
	for _, r := range all {
		first, _, _ := strings.Cut(r.Path, "/")
		by[first] = r
	}
	return by
}

// inPlace runs a test in a bubble with an empty directory of locks.
func inPlace(t *testing.T, test func(*testing.T, *dated)) {
	t.Helper()
	inBubble(t, func(t *testing.T, m *memory) {
		d := newDated(m)
		d.has(t, "P")
		test(t, d)
	})
}
