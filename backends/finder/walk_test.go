//go:build unix

package finder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// textKind takes files with a text for locks.
func textKind(text string) Kind {
	return Kind{
		File: func(in *Directory, name string, content func() Content) *Found {
			f := in.Lock(name)
			f.Lasts = true
			if content().Text != text {
				return nil
			}
			return f
		},
		Look: func(context.Context, Found) (backend.Report, error) { return backend.Report{}, nil },
	}
}

// crowd is a made-up tree: some directories, with as many files in each.
type crowd struct {
	directories, files int
	lists, reads       int
	peak               uint64 // of the memory in use
}

func (c *crowd) List(_ context.Context, path string) (all []Entry, err error) {
	c.lists++
	kind, n := Subdirectory, c.directories
	if path != "" || n == 0 {
		kind, n = RegularFile, c.files
	}
	for i := range n {
		all = append(all, Entry{Name: fmt.Sprintf("%06d", n-i), Type: kind})
	}
	return all, nil
}

func (c *crowd) Read(path string) Content {
	if c.reads++; c.reads%25_000 == 0 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		c.peak = max(c.peak, m.HeapAlloc)
	}
	if strings.HasSuffix(path, "7") {
		return Content{Text: "lock"}
	}
	return Content{}
}

// TestCrowd: each directory is listed once, and each file read once. The memory in use is that of
// one directory.
func TestCrowd(t *testing.T) {
	for _, c := range []crowd{{files: 100_000}, {directories: 1000, files: 100}, {directories: 10, files: 10_000}} {
		t.Run(fmt.Sprint(c.directories, " times ", c.files), func(t *testing.T) {
			told, last := 0, ""
			w := Walk{Tree: &c, Kinds: []Kind{textKind("other"), textKind("lock")}}
			w.Tell = func(l backend.Listed) {
				if told++; l.Lock <= last {
					t.Errorf("%s came after %s", l.Lock, last)
				}
				last = l.Lock
			}
			if err := w.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.reads != 100_000 || c.lists != c.directories+1 || told != 10_000 {
				t.Errorf("%d lists, %d reads, %d told", c.lists, c.reads, told)
			}
			if c.peak > 32<<20 {
				t.Errorf("it kept %d MiB", c.peak>>20)
			}
		})
	}
}

// floodKind takes each file for a lock, and "lock" for a record in it.
func floodKind(looks *int) Kind {
	return Kind{
		File: func(in *Directory, name string, content func() Content) *Found {
			f := in.Lock(name)
			f.Bare = content().Text != "lock"
			return f
		},
		Look: func(_ context.Context, f Found) (backend.Report, error) {
			*looks++
			h := backend.Holder{Record: &owner.Record{}}
			if f.Bare {
				h.Record = nil
			}
			return backend.Report{Holders: []backend.Holder{h}}, nil
		},
	}
}

// TestMost: foreign locks beyond the limit are neither looked at nor told, and hide none with a
// record; these have a limit of their own. The error says how many there were.
func TestMost(t *testing.T) {
	for most, want := range map[backend.Quota]struct {
		told int
		left backend.Quota
	}{
		{}:                         {1000, backend.Quota{}},
		{Known: 100, Foreign: 900}: {1000, backend.Quota{}},
		{Known: 100, Foreign: 50}:  {150, backend.Quota{Foreign: 850}},
		{Known: 30, Foreign: 50}:   {80, backend.Quota{Known: 70, Foreign: 850}},
	} {
		told, looks := 0, 0
		w := Walk{Tree: &crowd{directories: 10, files: 100}, Kinds: []Kind{floodKind(&looks)}}
		w.Most, w.Tell = most, func(backend.Listed) { told++ }
		var left backend.Quota
		err := w.Run(t.Context())
		if e, ok := errors.AsType[*backend.LeftOutError](err); ok {
			left = e.Left
		} else if err != nil {
			t.Fatal(err)
		}
		if told != want.told || left != want.left || looks != want.told+want.left.Known {
			t.Errorf("of at most %+v: told %d after %d looks, left out %+v; want %+v", most, told, looks, left, want)
		}
	}
}

// found walks a real tree and returns what it was told.
func found(t *testing.T, root string, depth int) (locks, failed []string) {
	t.Helper()
	w := Walk{Tree: FileTree{Root: root, Address: "T:" + root}, Kinds: []Kind{textKind("lock")}}
	w.Depth = depth
	w.Tell = func(l backend.Listed) {
		if l.Lock != "" {
			locks = append(locks, l.Lock)
		} else {
			failed = append(failed, l.Err.Error())
		}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return locks, failed
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileTree: only directories are walked into, and only files are read. A link is followed
// only where the walk begins.
func TestFileTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	must(t, os.MkdirAll(dir+"/a/b/c", 0o755))
	for _, name := range []string{"/0", "/a/1", "/a/b/2", "/a/b/c/3"} {
		must(t, os.WriteFile(dir+name, []byte("lock"), 0o644))
	}
	must(t, os.WriteFile(dir+"/long", []byte("lock"+strings.Repeat(" ", MaxText)), 0o644))
	must(t, os.Symlink(dir, dir+"/a/loop"))
	must(t, os.Symlink(dir+"/0", dir+"/link"))
	must(t, unix.Mkfifo(dir+"/fifo", 0o644))
	must(t, os.Symlink(dir, dir+"2"))
	for depth, want := range [][]string{{"/0", "/a/1", "/a/b/2", "/a/b/c/3"}, {"/0"}, {"/0", "/a/1"}} {
		for _, root := range []string{dir, dir + "2"} {
			if locks, failed := found(t, root, depth); !slices.Equal(locks, want) || failed != nil {
				t.Errorf("%s, depth %d: %q, %q", root, depth, locks, failed)
			}
		}
	}
}

// TestOthers: a directory that is a lock of a kind not asked for counts for no other kind. Files
// in a directory that merely looks like such a lock do count.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/G", 0o755))
	must(t, os.Mkdir(dir+"/R", 0o755))
	must(t, os.WriteFile(dir+"/G/1", []byte("lock"), 0o644))
	var locks []string
	w := Walk{Tree: FileTree{Root: dir}, Kinds: []Kind{textKind("lock")}}
	w.Others = []backend.Form{{"G", "R"}}
	w.Tell = func(l backend.Listed) { locks = append(locks, l.Lock) }
	must(t, w.Run(t.Context()))
	if !slices.Equal(locks, []string{"/G/1"}) {
		t.Errorf("the walk finds %q, want only /G/1", locks)
	}
}

// TestUnlistable: a directory that cannot be listed is told, and the walk goes on, unless the
// error is fatal. Directories that have gone meanwhile are not told.
func TestUnlistable(t *testing.T) {
	broken := errors.New("broken")
	tree := failing{&crowd{directories: 3, files: 2}, broken}
	for _, fatal := range []bool{false, true} {
		var told []string
		w := Walk{Tree: tree, Kinds: []Kind{textKind("")}, fatal: func(error) bool { return fatal }}
		w.Tell = func(l backend.Listed) {
			told = append(told, fmt.Sprint(l.Lock, l.Err))
		}
		err := w.Run(t.Context())
		want := 5
		if fatal {
			want = 2
		}
		if len(told) != want || fatal != errors.Is(err, broken) {
			t.Errorf("fatal %v: %q, %v", fatal, told, err)
		}
	}
	told := 0
	gone := Walk{Tree: failing{tree.Reader, fs.ErrNotExist}, Kinds: []Kind{textKind("")}}
	gone.Tell = func(backend.Listed) { told++ }
	if err := gone.Run(t.Context()); err != nil || told != 4 {
		t.Errorf("one has gone: told %d, %v", told, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := Walk{Tree: tree, Kinds: []Kind{textKind("")}}
	w.Tell = func(backend.Listed) { cancel() }
	if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// handed is a tree in which each directory and file has gone when it is first asked for.
type handed struct {
	crowd
	asked map[string]bool
}

func (h *handed) first(path string) bool {
	before := h.asked[path]
	h.asked[path] = true
	return path != "" && !before
}

func (h *handed) List(ctx context.Context, path string) ([]Entry, error) {
	if h.first(path) {
		return nil, fs.ErrNotExist
	}
	return h.crowd.List(ctx, path)
}

func (h *handed) Read(path string) Content {
	if h.first(path) {
		return Content{Err: fs.ErrNotExist}
	}
	return h.crowd.Read(path)
}

// TestHandedOver: what has gone when it is looked at is looked at again, as another may have it.
func TestHandedOver(t *testing.T) {
	told := 0
	w := Walk{Tree: &handed{crowd{directories: 3, files: 10}, map[string]bool{}}, Kinds: []Kind{textKind("lock")}}
	w.Tell = func(backend.Listed) { told++ }
	must(t, w.Run(t.Context()))
	if told != 3 {
		t.Errorf("told %d locks, want one in each of 3 directories", told)
	}
}

type failing struct {
	Reader
	err error
}

func (f failing) List(ctx context.Context, path string) ([]Entry, error) {
	if path == "/000002" {
		return nil, f.err
	}
	return f.Reader.List(ctx, path)
}

// A single is a kind of locks that are not known by their names.
type single struct{ backend.Backend }

func (single) Read(context.Context) (backend.Report, error) { return backend.Report{Token: 7}, nil }

// TestListSingle: a kind that gives no line for it is listed all the same, by the address of a lock.
// The look may hang, so it is announced.
func TestListSingle(t *testing.T) {
	var steps int
	var told []backend.Listed
	must(t, List(t.Context(), single{}, "table:/db", backend.Listing{Step: func() { steps++ }, Tell: func(l backend.Listed) { told = append(told, l) }}))
	if steps != 1 || len(told) != 1 || told[0].Lock != "table:/db" || told[0].Report.Token != 7 || told[0].Err != nil {
		t.Errorf("after %d steps the list tells %+v, want the one lock after one step", steps, told)
	}
}

func TestBeginning(t *testing.T) {
	d := Directory{Entries: []Entry{{Name: "a"}, {Name: "b"}, {Name: "b-"}, {Name: "b.1"}, {Name: "b.2"}, {Name: "c"}}}
	for prefix, want := range map[string]int{"b.": 2, "b": 4, "": 6, "d": 0, "0": 0, "c": 1} {
		if got := d.Beginning(prefix); len(got) != want {
			t.Errorf("with %q begin %v, want %d", prefix, got, want)
		}
	}
}
