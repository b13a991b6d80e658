package ftplab

import (
	"strings"
	"testing"

	"locksmith/test/ftpserver"
)

// noOverwrite: a server that does not rename onto anything that exists is good
// enough. Beside plain scripts it is only if it looks and renames in one step: what a
// script makes between ProFTPD's two steps is replaced, as doctor says.
func noOverwrite(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p := start(t, kind, style, ftpserver.Options{NoOverwrite: true})
		m := melee{place: p, history: newHistory(t), rounds: 20}
		m.run(4)
		m.history.check(t)
		p.clean()
	})
	if kind != "embedded" {
		return
	}
	t.Run("with scripts", func(t *testing.T) {
		t.Parallel()
		p := start(t, kind, "plain", ftpserver.Options{NoOverwrite: true})
		p.beside(t, 3, 3, 10)
	})
}

// noRmdir: an account that may not remove directories. It is told so, and within
// the lease.
func noRmdir(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p := start(t, kind, style, ftpserver.Options{NoRmdir: true})
		status, said := p.do("run", "--lease", "2s", p.address(), "--", "true")
		if status == 0 || !strings.Contains(said, "remove") {
			t.Errorf("exit status %d: %s", status, said)
		}
		t.Logf("exit status %d: %s", status, said)
	})
}

// denyRename: an account that may not rename.
func denyRename(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p := start(t, kind, style, ftpserver.Options{DenyRename: true})
		status, said := p.do("run", "--lease", "2s", p.address(), "--", "true")
		if status == 0 || !strings.Contains(said, "rename") {
			t.Errorf("exit status %d: %s", status, said)
		}
		t.Logf("exit status %d: %s", status, said)
		if left := p.leftovers(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}
