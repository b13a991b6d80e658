//go:build unix

package ftplab

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// emptyPlace: nobody has ever used a lock in the directory. Some servers refuse to list an empty
// directory.
func emptyPlace(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	if s := p.look(); s.State != "free" {
		t.Errorf("status of a lock that nobody has used: %+v", s)
	}
	p.must("reap", "--max-age", "1m", "--yes", p.directory())
	missing := *p
	missing.path += "/missing"
	status, said := missing.do("status", missing.address())
	t.Logf("a directory that is missing: exit status %d: %s", status, said)
	status, said = missing.do("run", "--timeout", "0", missing.address(), "--", "true")
	if status != protocol.CannotCreate.Exit() || !strings.Contains(said, "reservation") {
		t.Errorf("exit status %d: %s", status, said)
	}
	if left := p.all(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// noOverwrite: a server that does not rename onto anything that exists is good enough. If plain
// scripts use the lock as well, it is good enough only if it looks and renames in one step:
// ProFTPD replaces what a script makes between its two steps, as doctor says.
func noOverwrite(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{NoOverwrite: true})
	m := newContention(t, p)
	m.Rounds = 20
	m.run(4)
	m.Log.Check(t, m.Shared)
	p.clean()
	if kind == "embedded" && style == "plain" {
		p.in(t).beside(t, 3, 3, 10)
	}
}

// noRmdir: the account may make directories but not remove them, and perhaps not rename them
// either. Its user is told so before the account has a lock that nobody could release, and is
// told, too, what had to be left behind.
func noRmdir(t *testing.T, kind, style string) {
	for _, o := range []ftpserver.Options{{NoRmdir: true}, {NoRmdir: true, DenyRename: true}} {
		if ftpserver.Supports(kind, o) != nil {
			continue
		}
		p, proxy := start(t, kind, style, o).behind()
		status, said := p.do("hold", p.address())
		if status != protocol.CannotCreate.Exit() || !strings.HasPrefix(said, "ERR code=cannot_create ") || !strings.Contains(said, "locksmith doctor") {
			t.Errorf("exit status %d: %s", status, said)
		}
		if n := work(proxy); n > 16 {
			t.Errorf("%d commands, with those of logging in", n)
		}
		left := p.leftovers()
		if len(left) != 1 || !strings.Contains(said, left[0]) {
			t.Errorf("left: %q, output: %s", left, said)
		}
	}
}

// appendOnly: the account may make directories in the place but not remove them there; below
// those that it made it may remove. The place is not fit for plain locks. A directory of the
// account's own is fit for them, and the place itself is fit for a lock in dir style.
func appendOnly(t *testing.T, kind, _ string) {
	p := start(t, kind, "plain", ftpserver.Options{})
	set := func(change string) error { return exec.Command("chattr", change, p.dir).Run() }
	if err := set("+a"); err != nil {
		lab.Lacking(t, "this file system knows no append-only directories: "+err.Error())
	}
	t.Cleanup(func() { _ = set("-a") })
	status, said := p.do("doctor", "--idle", "100ms", p.address())
	if status != protocol.CannotCreate.Exit() || !strings.Contains(said, "unfit   remove directories") ||
		!strings.Contains(said, path.Base(p.path)+"/locks/L; or add ?style=dir") {
		t.Errorf("doctor: exit status %d: %s", status, said)
	}
	if left := p.all(); len(left) != 1 || !strings.Contains(said, left[0]) {
		t.Errorf("left: %q, output: %s", left, said)
	}
	before := len(p.all())
	for range 3 {
		if status, said := p.do("hold", p.address()); status != protocol.CannotCreate.Exit() {
			t.Errorf("hold: exit status %d: %s", status, said)
		}
	}
	if left := p.all(); len(left) != before+1 {
		t.Errorf("after three tries the place has %q, want one more than before", left)
	}
	own, tree := *p, *p
	own.path += "/own"
	var st unix.Stat_t // as whom the server works
	if err := errors.Join(unix.Stat(p.dir, &st), os.Mkdir(p.dir+"/own", 0o755), os.Chown(p.dir+"/own", int(st.Uid), int(st.Gid))); err != nil {
		t.Fatal(err)
	}
	tree.style = "dir"
	for _, p := range []*place{&own, &tree} {
		p.must("doctor", "--idle", "100ms", p.address())
		p.must("run", p.address(), "--", "true")
	}
	if said := tree.must("doctor", "--idle", "100ms", tree.address()); strings.Contains(said, "clean up") {
		t.Errorf("doctor found something to clean up beside a lock in use: %s", said)
	}
}

// denyRename: the account may not rename.
func denyRename(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{DenyRename: true})
	status, said := p.do("run", "--lease", "10s", p.address(), "--", "true")
	if status == 0 || !strings.Contains(said, "rename") {
		t.Errorf("exit status %d: %s", status, said)
	}
	t.Logf("exit status %d: %s", status, said)
	if left := p.leftovers(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
