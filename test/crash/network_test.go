//go:build linux && amd64

package crash

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/ftpserver"
	"locksmith/test/lab/mishaps"
)

// atServers are the kinds of locks at FTP servers.
var atServers = []kind{
	{name: "ftp: on ProFTPD", scheme: "ftp", options: "?style=plain", stays: nothing, server: "proftpd"},
	{name: "ftp:?style=dir on ProFTPD", scheme: "ftp", options: "?style=dir", stays: tree, server: "proftpd"},
	{name: "ftp: on vsftpd", scheme: "ftp", options: "?style=plain", stays: nothing, server: "vsftpd"},
	{name: "ftp:?style=dir on vsftpd", scheme: "ftp", options: "?style=dir", stays: tree, server: "vsftpd"},
}

func (k kind) isRemote() bool { return k.scheme == "ftp" }

// newRemotePlace makes a place at a server.
func newRemotePlace(t testing.TB, k kind, s *ftpserver.Server) *place {
	t.Helper()
	dir, err := os.MkdirTemp(s.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t // the user as whom the server works
	if err := errors.Join(unix.Stat(s.Dir, &st), os.Chown(dir, int(st.Uid), int(st.Gid)), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := &place{kind: k, t: t, dir: dir, remote: true, server: s,
		env: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "LOCKSMITH_PASSWORD=" + s.Password}}
	p.at = p.by(s.Addr, "L") + k.options
	p.reaps = p.by(s.Addr, "")
	return p
}

// by returns the address of a name at the place, by way of another server address.
func (p *place) by(addr, name string) string {
	return "ftp://" + p.server.User + "@" + addr + path.Join(p.server.Home, filepath.Base(p.dir), name)
}

// behindProxy gives the victim a way of its own to the server.
func (c *cell) behindProxy() {
	c.proxy = ftpserver.StartProxy(c.t, c.server.Addr)
	c.victimAt = c.by(c.proxy.Addr, "L") + c.options
}

// outage is how long a server is away that comes back in time.
const outage = 2 * time.Second

// cutLease is longer than we wait for a silent server. With a shorter lease an answer might come
// after the lease, which is of no use to a waiter: it would give up with an error.
const cutLease = 16 * time.Second

// networks are the mishaps that happen to servers and the way to them.
var networks = []mishap{
	{Mishap: mishaps.ServerBack, where: kind.isRemote, own: true, lease: 16 * time.Second,
		inject: func(c *cell) {
			c.server.Stop()
			c.resume()
			time.Sleep(outage)
			c.server.Restart()
			c.happened = time.Now()
		},
		undo: func(*cell) {}},
	{Mishap: mishaps.ServerBackLate, where: kind.isRemote, own: true, lease: shortLease, plan: plan{Stays: true},
		prepare: func(c *cell) {
			c.slow = true
			if c.moment == mishaps.Waiting {
				c.undo = func(*cell) {}
			}
		},
		inject: func(c *cell) {
			c.server.Stop()
			c.resume()
			if c.moment == mishaps.Waiting {
				time.Sleep(c.lease * 5 / 4)
			}
			for c.moment != mishaps.Waiting && c.death == "" {
				c.hear(c.victim.event())
			}
			c.server.Restart()
			c.happened = time.Now()
		}},
	{Mishap: mishaps.Cut, where: kind.isRemote, lease: cutLease, plan: plan{Stays: true},
		prepare: (*cell).behindProxy,
		inject:  func(c *cell) { c.cut(ftpserver.Fault{Do: ftpserver.Stall}) },
		wake:    func(c *cell) { c.proxy.Heal() }},
	{Mishap: mishaps.AnswersCut, where: kind.isRemote, lease: cutLease, plan: plan{Stays: true},
		prepare: (*cell).behindProxy,
		inject: func(c *cell) {
			c.cut(ftpserver.Fault{Command: 1, At: ftpserver.Answered, Do: ftpserver.Stall})
		},
		wake: func(c *cell) { c.proxy.Heal() }},
	{Mishap: mishaps.AnswersLost, where: kind.isRemote, few: onHeartbeat, lease: cutLease, // it logs in anew
		prepare: (*cell).behindProxy,
		inject: func(c *cell) {
			for i := range c.proxy.Conns() {
				c.proxy.Fail(i, ftpserver.Fault{Command: 1, At: ftpserver.Answered, Do: ftpserver.Cut})
			}
			c.resume()
		},
		undo: func(*cell) {}},
}

// cut spoils the victim's connections, present and future.
func (c *cell) cut(f ftpserver.Fault) {
	c.proxy.Fail(ftpserver.Every, f)
	c.happened = time.Now()
	c.resume()
}

// servers are shared by the cells in which nothing happens to the server.
type servers map[string]*ftpserver.Server

// place makes a place for a cell.
func (s servers) place(t testing.TB, m mishap, k kind) *place {
	switch {
	case !k.isRemote():
		return newPlace(t, k)
	case m.own:
		return newRemotePlace(t, k, ftpserver.Start(t, k.server, ftpserver.Options{}))
	}
	return newRemotePlace(t, k, s[k.server])
}
