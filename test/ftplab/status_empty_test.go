package ftplab

import (
	"strings"
	"testing"

	"locksmith/test/ftpserver"
)

// emptyPlace: nobody has ever used the lock. Some servers refuse to list a
// directory that is empty.
func emptyPlace(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p := start(t, kind, style, ftpserver.Options{})
		if s := p.look(); s.State != "free" {
			t.Errorf("%+v", s)
		}
		p.must("reap", "--max-age", "1m", "--yes", p.directory())
		missing := *p
		missing.path += "/missing"
		status, said := missing.do("status", missing.address())
		t.Logf("a directory that is missing: exit status %d: %s", status, said)
		if status, said := missing.do("run", "--timeout", "0", missing.address(), "--", "true"); status != 73 || !strings.Contains(said, "reservation") {
			t.Errorf("exit status %d: %s", status, said)
		}
		if left := p.all(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}
