//go:build unix

package link

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// A server is a file system in memory whose faults a test chooses.
type server struct {
	mu    sync.Mutex
	names map[string]*inode
	next  uint64
	now   time.Time // its clock
	calls []string  // all calls that were made
	fault faulty.Hook
	// nameNumbers: a file has another inode number under each name.
	nameNumbers bool
	// oneLink: a file always counts one link.
	oneLink bool
	// ticks is by how much the server's clock goes on with each call.
	ticks time.Duration
	// noLinks is why there are no hard links.
	noLinks error
}

type inode struct {
	number   uint64
	links    uint64
	content  string
	kind     string
	modified time.Time
	locked   bool // may not be removed
}

func newServer() *server {
	return &server{names: map[string]*inode{}, now: time.Unix(1_700_000_000, 0)}
}

// do makes a call, to which the file system answers as real ones do.
func (f fakeFS) do(call, name string, make func() error) error {
	s := f.server
	s.mu.Lock()
	s.calls = append(s.calls, call+" "+name)
	s.now = s.now.Add(s.ticks)
	hook := s.fault
	if f.hook != nil {
		hook, s.now = f.hook, time.Now()
	}
	s.mu.Unlock()
	return hook.Make(call, name, "", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return make()
	})
}

func (s *server) find(name string) (*inode, error) {
	if n := s.names[name]; n != nil {
		return n, nil
	}
	return nil, unix.ENOENT
}

// put makes a file that is somebody else's.
func (s *server) put(name, content string) *inode {
	s.next++
	n := &inode{number: s.next, links: 1, content: content, modified: s.now}
	s.names[name] = n
	return n
}

func (s *server) list() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *server) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// fakeFS is an FS on a server.
type fakeFS struct {
	*server
	// hook is that of a process in a synctest bubble, whose time is the server's; nil: the server has
	// its own time, and one fault for all.
	hook faulty.Hook
}

func (f fakeFS) Create(name, content string) error {
	return f.do("create", name, func() error {
		if f.names[name] != nil {
			return unix.EEXIST
		}
		f.put(name, content)
		return nil
	})
}

func (f fakeFS) Link(from, to string) error {
	return f.do("link", to, func() error {
		n, err := f.find(from)
		switch {
		case err != nil:
			return err
		case f.names[to] != nil:
			return unix.EEXIST
		case f.noLinks != nil:
			return f.noLinks
		}
		n.links++
		f.names[to] = n
		return nil
	})
}

func (f fakeFS) Unlink(name string) error {
	return f.do("unlink", name, func() error {
		n, err := f.find(name)
		if err != nil {
			return err
		}
		if n.locked {
			return unix.EPERM
		}
		n.links--
		delete(f.names, name)
		return nil
	})
}

func (f fakeFS) stat(n *inode, name string) lockfile.Stat {
	st := lockfile.Stat{Dev: 1, Ino: n.number, Links: n.links, Size: int64(len(n.content)), Modified: n.modified, Kind: n.kind}
	if f.nameNumbers {
		for _, c := range name {
			st.Ino = st.Ino*31 + uint64(c)
		}
	}
	if f.oneLink {
		st.Links = 1
	}
	return st
}

func (f fakeFS) Stat(name string) (st lockfile.Stat, err error) {
	err = f.do("stat", name, func() error {
		n, err := f.find(name)
		if err == nil {
			st = f.stat(n, name)
		}
		return err
	})
	return st, err
}

func (f fakeFS) Read(name string) (st lockfile.Stat, text string, err error) {
	err = f.do("read", name, func() error {
		n, err := f.find(name)
		if err == nil {
			st, text = f.stat(n, name), n.content
		}
		return err
	})
	return st, text, err
}

func (f fakeFS) Open(name string) (file File, err error) {
	err = f.do("open", name, func() error {
		n, err := f.find(name)
		file = &fakeFile{f, n, name}
		return err
	})
	return file, err
}

func (f fakeFS) List() (names []string, err error) {
	err = f.do("list", "", func() error {
		for name := range f.names {
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

func (f fakeFS) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	if f.hook != nil {
		clock.Sleep(ctx, backendtest.BubbleTime{}, d)
	}
}

func (f fakeFS) Close() {}

type fakeFile struct {
	fs   fakeFS
	node *inode
	name string
}

func (f *fakeFile) StatServer() (st lockfile.Stat, err error) {
	err = f.fs.do("fstat", f.name, func() error {
		st = f.fs.stat(f.node, f.name)
		return nil
	})
	return st, err
}

func (f *fakeFile) Touch() error {
	return f.fs.do("touch", f.name, func() error { f.node.modified = f.fs.now; return nil })
}

func (f *fakeFile) SetTime(t time.Time) error {
	return f.fs.do("settime", f.name, func() error { f.node.modified = t; return nil })
}

func (f *fakeFile) Close() error { return nil }

// lockOn returns a lock on a server.
func lockOn(s *server) *Lock {
	l := (&Lock{NewFS: func() FS { return fakeFS{server: s} }, Name: "L", Address: "link:/L"}).Here()
	l.Polls = backoff.Config{Random: func(int64) int64 { return 0 }}
	return l
}

func attemptOn(t *testing.T, l *Lock, r backend.Request) *attempt {
	t.Helper()
	a, err := l.Attempt(r)
	mustWork(t, err)
	return a.(*attempt)
}

// deadRequest is the request of a process that has ended.
func deadRequest(t *testing.T) backend.Request {
	r := backendtest.Request()
	r.Owner.Helper = backendtest.DeadProcess(t)
	return r
}

// elsewhere is the request of a process on another host, whose end nobody can see.
func elsewhere(lease time.Duration) backend.Request {
	r := backendtest.Request()
	r.Owner.Place = owner.Place{Host: "far", Machine: "m", Boot: "b", PIDNS: "p"}
	r.Owner.Lease = lease
	return r
}

// A handClock stands still until a test moves it.
type handClock struct{ now time.Duration }

func (c *handClock) Now() time.Duration                 { return c.now }
func (c *handClock) NewTimer(time.Duration) clock.Timer { panic("nobody waits here") }

// elapse lets the same time pass here and on the server.
func elapse(s *server, c *handClock, d time.Duration) {
	s.pass(d)
	c.now += d
}

func mustBeClean(t *testing.T, s *server) {
	t.Helper()
	if left := s.list(); len(left) > 0 {
		t.Errorf("left behind: %q, after these calls:\n%s", left, strings.Join(s.calls, "\n"))
	}
}
