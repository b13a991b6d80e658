//go:build unix

package ftplab

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/backendtest"
	"locksmith/test/ftpserver"
)

// conformance: at every server the backend passes the conformance suite. The embedded server is
// joined to it in package ftp.
func conformance(t *testing.T, kind, style string) { conform(t, kind, style, ftpserver.Options{}) }

func conformanceTLS(t *testing.T, kind, style string) {
	conform(t, kind, style, ftpserver.Options{TLS: true})
}

func conform(t *testing.T, kind, style string, o ftpserver.Options) {
	s := ftpserver.Start(t, kind, o)
	backendtest.Run(t, backendtest.Subject{
		New:    func(t *testing.T) backendtest.Fixture { return newPlace(t, s, style).fixture() },
		Shared: style == "dir",
	})
}

func (p *place) fixture() backendtest.Fixture {
	connections := newPool(p.t)
	return backendtest.Fixture{
		Open: func() backend.Backend {
			l := p.open()
			l.NewDir = connections.share(l.NewDir)
			return l
		},
		Leftovers: p.leftovers,
		Remove: func() {
			if err := os.RemoveAll(filepath.Join(p.dir, "L")); err != nil {
				p.t.Error(err)
			}
		},
		Abandon: func(backend.Hold) {}, // a hold does not live by its connection
	}
}

// A pool keeps connections for later locks: the suite makes hundreds of them, and logging in
// takes much longer than locking.
type pool struct {
	mu   sync.Mutex
	idle []dirs.StatDir
	over bool
}

func newPool(t *testing.T) *pool {
	p := &pool{}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		for _, d := range p.idle {
			d.Close()
		}
	})
	return p
}

// share makes a Lock.NewDir that takes a pooled connection if there is one, and otherwise
// connects anew.
func (p *pool) share(newDir func() dirs.Dir) func() dirs.Dir {
	return func() dirs.Dir {
		p.mu.Lock()
		defer p.mu.Unlock()
		n := len(p.idle)
		if n == 0 {
			return &pooled{newDir().(dirs.StatDir), p}
		}
		d := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return &pooled{d, p}
	}
}

// A pooled directory goes back to the pool when it is closed.
type pooled struct {
	dirs.StatDir
	pool *pool
}

func (d *pooled) Close() {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	if d.pool.over {
		d.StatDir.Close()
		return
	}
	d.pool.idle = append(d.pool.idle, d.StatDir)
}
