//go:build unix

package ftplab

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/ftp"
	"locksmith/backends/mkdirlock"
	"locksmith/test/ftpserver"
)

// A place is a directory of its own at a server, with a lock L in it.
type place struct {
	t      *testing.T
	server *ftpserver.Server
	addr   string // of the server, or of a proxy before it
	style  string
	path   string // as the server names it
	dir    string // the same on this disk
}

// newPlace makes a place in the home directory.
func newPlace(t *testing.T, s *ftpserver.Server, style string) *place {
	t.Helper()
	dir, err := os.MkdirTemp(s.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t // as whom the server works
	if err := errors.Join(unix.Stat(s.Dir, &st), os.Chown(dir, int(st.Uid), int(st.Gid)), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return &place{t: t, server: s, addr: s.Addr, style: style, path: path.Join(s.Home, filepath.Base(dir)), dir: dir}
}

// start starts a server and makes a place at it.
func start(t *testing.T, kind, style string, o ftpserver.Options) *place {
	t.Helper()
	return newPlace(t, ftpserver.Start(t, kind, o), style)
}

// in returns another, empty place at the same server for a test of its own.
func (p *place) in(t *testing.T) *place {
	t.Helper()
	next := newPlace(t, p.server, p.style)
	next.addr = p.addr
	return next
}

// behind returns the same place, reached by way of a new proxy.
func (p *place) behind() (*place, *ftpserver.Proxy) {
	p.t.Helper()
	proxy := ftpserver.StartProxy(p.t, p.server.Addr)
	by := *p
	by.addr = proxy.Addr
	return &by, proxy
}

// direct returns the same place, reached without a proxy.
func (p *place) direct() *place {
	direct := *p
	direct.addr = p.server.Addr
	return &direct
}

// address is the lock's address.
func (p *place) address() string {
	a := p.parts("L")
	a.Options = map[string]string{"style": p.style}
	return a.String()
}

// directory is the address for reap.
func (p *place) directory() string { return p.parts("").String() }

func (p *place) parts(name string) backend.Address {
	scheme := ftp.SchemePlain
	if p.server.CA != "" {
		scheme = ftp.SchemeTLS
	}
	return backend.Address{Scheme: scheme, User: p.server.User, Host: p.addr, Path: path.Join(p.path, name)}
}

// hasty is a quick pace for tests, where the server's work does not matter.
var hasty = mkdirlock.Pace{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond}

// open opens the lock as a process of its own would.
func (p *place) open() *mkdirlock.Lock {
	p.t.Helper()
	a := p.parts("L")
	a.Options = map[string]string{"style": p.style}
	return p.openAt(a)
}

func (p *place) openAt(a backend.Address) *mkdirlock.Lock {
	p.t.Helper()
	b, err := ftp.Open(a, p.access())
	if err != nil {
		p.t.Fatal(err)
	}
	l, plain := b.(*mkdirlock.Lock)
	if !plain {
		l = b.(mkdirlock.DirStyleLock).Lock
	}
	l.Pace = hasty
	return l
}

func (p *place) access() backend.Access {
	return backend.Access{CA: p.server.CA, Password: func(string, string) (string, string, error) { return p.server.Password, "", nil }}
}

// leftovers lists what should not be left of a free lock: everything except, in a tree, its
// newest tokens and an empty lock.
func (p *place) leftovers() []string {
	var left []string
	tree := p.style == "dir"
	for _, name := range p.all() {
		in, fence := strings.CutPrefix(name, "L/fence.")
		switch {
		case tree && (name == "L" || name == "L/lock"):
		case tree && fence && !strings.Contains(in, "/"):
		default:
			left = append(left, name)
		}
	}
	return left
}

// all lists everything below the place.
func (p *place) all() []string {
	var all []string
	_ = filepath.WalkDir(p.dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != p.dir {
			all = append(all, strings.TrimPrefix(name, p.dir+"/"))
		}
		return nil // what goes away meanwhile is not listed
	})
	return all
}

// aged makes something at the place, and all in it, three hours older: where times
// are told to the minute, the first of them does not count.
func (p *place) aged(names ...string) {
	p.t.Helper()
	if len(names) == 0 {
		names = p.all()
	}
	for _, name := range names {
		name = filepath.Join(p.dir, name)
		info, err := os.Lstat(name)
		if err != nil {
			continue // it has gone meanwhile
		}
		before := info.ModTime().Add(-3 * time.Hour)
		if err := os.Chtimes(name, before, before); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.t.Error(err)
		}
	}
}
