//go:build unix

package sftp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/backend"
)

// A fake is a server in this process, for the files in a directory. A hook may answer each
// request in another way.
type fake struct {
	dir        string
	extensions []string
	page       int // names in a reply to READDIR

	hooking  sync.Mutex
	mu       sync.Mutex
	sessions int
	hooks    []func(*asking) (answered bool)
}

// An asking is a request as the fake gets it, and how it is answered.
type asking struct {
	kind   byte
	id     uint32
	body   reader
	path   string // of requests that begin with a path
	served *fake
	conn   net.Conn
	to     func(packet)
}

func startFake(t testing.TB) *fake {
	dir := t.TempDir()
	return &fake{dir: dir, extensions: []string{posixRename, "1"}, page: 2}
}

// when adds a hook that runs before a request is executed. If several hooks answer, the last
// answer counts.
func (f *fake) when(hook func(*asking) bool) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks = append([]func(*asking) bool{hook}, f.hooks...)
	return f
}

// server is the fake as the code under test sees it.
func (f *fake) server(t testing.TB, address backend.Address) *server {
	t.Helper()
	s, err := newServer(address, backend.Access{})
	if err != nil {
		t.Fatal(err)
	}
	s.start = func(_, _, _ []string) (transport, error) {
		ours, theirs := net.Pipe()
		f.mu.Lock()
		f.sessions++
		f.mu.Unlock()
		go f.serve(theirs)
		return &piped{Conn: ours}, nil
	}
	return s
}

type piped struct {
	net.Conn
	said string
}

func (p *piped) Kill()       { _ = p.Close() }
func (p *piped) Why() string { return p.said }

func (f *fake) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	out := make(chan packet, 64) // a client may send before it reads
	defer close(out)
	go func() {
		for p := range out {
			if _, err := c.Write(p.bytes()); err != nil {
				_ = c.Close()
			}
		}
	}()
	if kind, _, err := readPacket(in); err != nil || kind != typeInit {
		return
	}
	hello := newPacket(typeVersion).uint32(version)
	for _, e := range f.extensions {
		hello = hello.string(e)
	}
	out <- hello
	handles := map[string][]fs.DirEntry{}
	for {
		kind, body, err := readPacket(in)
		if err != nil {
			return
		}
		r := &asking{kind: kind, id: binary.BigEndian.Uint32(body), body: reader{rest: body[4:]}, served: f, conn: c,
			to: func(p packet) { out <- p }}
		f.answer(r, handles)
	}
}

func (f *fake) at(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(f.dir, p)
}

func (f *fake) answer(r *asking, handles map[string][]fs.DirEntry) {
	peek := r.body
	r.path = f.at(peek.string())
	f.mu.Lock()
	hooks := f.hooks
	f.mu.Unlock()
	if !f.hooked(r, hooks) {
		r.execute(handles)
	}
}

// hooked calls one hook at a time.
func (f *fake) hooked(r *asking, hooks []func(*asking) bool) bool {
	f.hooking.Lock()
	defer f.hooking.Unlock()
	return slices.ContainsFunc(hooks, func(h func(*asking) bool) bool { return h(r) })
}

// status answers with the outcome of a system call, as OpenSSH does.
func (r *asking) status(err error) {
	code := uint32(statusFailure)
	switch {
	case err == nil:
		code = statusOK
	case errors.Is(err, io.EOF):
		code = statusEOF
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		code = statusNoFile
	case errors.Is(err, fs.ErrPermission):
		code = statusDenied
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENAMETOOLONG):
		code = statusBad
	}
	r.code(code)
}

func (r *asking) code(code uint32) {
	r.to(newPacket(typeStatus).uint32(r.id).uint32(code).string("said the fake").string("en"))
}

func (r *asking) execute(handles map[string][]fs.DirEntry) {
	in := &r.body
	switch r.kind {
	case typeMkdir:
		r.status(syscall.Mkdir(r.path, 0o777))
	case typeRmdir:
		r.status(syscall.Rmdir(r.path))
	case typeRemove:
		r.status(syscall.Unlink(r.path))
	case typeSymlink:
		target := in.string()
		r.status(syscall.Symlink(target, r.served.at(in.string())))
	case typeRename:
		from, to := in.string(), in.string()
		if _, err := os.Lstat(r.served.at(to)); err == nil {
			r.code(statusFailure)
			return
		}
		r.status(syscall.Rename(r.served.at(from), r.served.at(to)))
	case typeExtended:
		in.string()
		from, to := in.string(), in.string()
		r.status(syscall.Rename(r.served.at(from), r.served.at(to)))
	case typeReadlink:
		target, err := os.Readlink(r.path)
		if err != nil {
			r.status(err)
			return
		}
		r.to(newPacket(typeName).uint32(r.id).uint32(1).string(target).string("").attrs(attrs{}))
	case typeLstat:
		r.lstat()
	case typeSetstat:
		in.string()
		r.status(r.setstat(in.attrs()))
	case typeOpendir:
		all, err := os.ReadDir(r.path)
		if err != nil {
			r.status(err)
			return
		}
		handles["h"+r.path] = all
		r.to(newPacket(typeHandle).uint32(r.id).string("h" + r.path))
	case typeReaddir:
		r.readdir(handles)
	case typeClose:
		r.status(nil)
	default:
		r.code(statusNoSupport)
	}
}

func (r *asking) lstat() {
	st, err := os.Lstat(r.path)
	if err != nil {
		r.status(err)
		return
	}
	r.to(newPacket(typeAttrs).uint32(r.id).attrs(told(st)))
}

func told(st fs.FileInfo) attrs {
	sys := st.Sys().(*syscall.Stat_t)
	return attrs{flags: hasMode | hasTimes, mode: uint32(sys.Mode), modified: uint32(st.ModTime().Unix())}
}

func (r *asking) setstat(a attrs) error {
	if a.flags&hasMode != 0 {
		return syscall.Chmod(r.path, a.mode&0o7777)
	}
	at := time.Unix(int64(a.modified), 0)
	return os.Chtimes(r.path, at, at)
}

func (r *asking) readdir(handles map[string][]fs.DirEntry) {
	h := r.body.string()
	left := handles[h]
	if len(left) == 0 {
		r.status(io.EOF)
		return
	}
	some := left[:min(r.served.page, len(left))]
	handles[h] = left[len(some):]
	p := newPacket(typeName).uint32(r.id).uint32(uint32(len(some)))
	for _, e := range some {
		var a attrs
		if st, err := e.Info(); err == nil {
			a = told(st)
		}
		p = p.string(e.Name()).string("-rw-r--r-- 1").attrs(a)
	}
	r.to(p)
}
