//go:build linux

package sftplab

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/nfs"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
	"locksmith/test/sftpserver"
)

var long = flag.Bool("long", false, "leave nothing out that takes long")

func TestMain(m *testing.M) {
	lab.Parallel(8) // most of them wait
	lab.Main(m, map[string]func() int{cutterRole: cutter})
}

// A place is a lock at a server, and what a user needs to reach it.
type place struct {
	t       *testing.T
	server  *sftpserver.Server
	ssh     string // for $LOCKSMITH_SSH
	address string
	dir     string // the lock on this disk
}

func start(t *testing.T, o sftpserver.Options) *place {
	t.Helper()
	s := sftpserver.Start(t, o)
	return &place{t, s, s.SSH, s.Address("lock"), s.Home + "/lock"}
}

// locksmith returns a command of a user who has the key of the server's account.
func (p *place) locksmith(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(lab.Program(p.t, "cmd/locksmith"), args...)
	home := p.t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH_SSH="+p.ssh)
	return cmd
}

// guarded returns a command under the lock, as a contest wants it.
func (p *place) guarded(flags []string, command ...string) *exec.Cmd {
	p.t.Helper()
	return p.locksmith(append(append(append([]string{"run"}, flags...), p.address, "--"), command...)...)
}

// hold starts a helper for the lock.
func (p *place) hold(flags ...string) *lab.Helper {
	p.t.Helper()
	return lab.Hold(p.t, p.locksmith(append(append([]string{"hold"}, flags...), p.address)...))
}

// near returns the same lock as a host with the server's disk sees it.
func (p *place) near() backend.Backend {
	p.t.Helper()
	b, err := nfs.Open(backend.Address{Scheme: nfs.Scheme, Path: p.dir})
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// holder returns the id of the lock's only holder, or else a description of what was found.
func (p *place) holder() string {
	p.t.Helper()
	r, err := p.near().Read(p.t.Context())
	if err != nil || len(r.Holders) != 1 {
		return fmt.Sprintf("%+v, %v", r, err)
	}
	return r.Holders[0].ID
}

// atRest makes sure that the lock can be taken, and that its new holder, who tends it at its
// heartbeats, removes what others left.
func (p *place) atRest() {
	p.t.Helper()
	h := p.hold("--lease", "16s")
	id := h.Held().Value("id")
	left := func() []string {
		return slices.DeleteFunc(backendtest.GenerationLeftovers(p.dir), func(name string) bool {
			name = filepath.Base(name)
			// A helper that died while it checked whether links are kept left a link, which is in nobody's
			// way.
			return strings.HasSuffix(name, id) || strings.HasPrefix(name, "d.0-")
		})
	}
	lab.Eventually(p.t, "what was left is removed", func() bool { return len(left()) == 0 }, func() string { return fmt.Sprint(left()) })
	h.Release()
}
