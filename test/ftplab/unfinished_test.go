//go:build unix

package ftplab

import (
	"path/filepath"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// unfinished: a waiter is killed between the two directories of its reservation, or after them and
// before its record. Who comes to share the lock then is held up by the one in no try, and by the
// other once, and removes it. vsftpd lists a directory that is missing as empty.
func unfinished(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	for name, c := range map[string]struct {
		at        ftpserver.Fault
		left      string
		atOnce    bool
		leftAfter int
	}{
		// Its first MKD finds out whether it may remove what it makes.
		"no entry":  {ftpserver.Fault{Verb: "MKD", Command: 3}, "r.*", true, 1},
		"no record": {ftpserver.Fault{Verb: "RNFR", Command: 1}, "r.*/x.*", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := p.in(t)
			p.must("run", p.address(), "--", "true")
			by, proxy := p.behind()
			reached := make(chan struct{})
			c.at.At, c.at.Do, c.at.Then = ftpserver.Before, ftpserver.Stall, func() { close(reached) }
			proxy.Fail(proxy.Conns(), c.at)
			killed := lab.Start(t, by.under(nil, "true"))
			<-reached
			killed.Kill()
			if left := p.glob(c.left); len(left) != 1 {
				t.Fatalf("the kill left %q, want one %s", left, c.left)
			}
			if !c.atOnce {
				p.must("run", "--shared", "--timeout", (2 * time.Minute).String(), p.address(), "--", "true")
			}
			p.must("run", "--shared", "--timeout", "0", p.address(), "--", "true")
			p.must("run", "--shared", "--timeout", "0", p.address(), "--", "true")
			if left := p.glob("r.*"); len(left) != c.leftAfter {
				t.Errorf("after three readers there is %q, want %d reservations", left, c.leftAfter)
			}
		})
	}
}

// glob returns what matches in the lock's directory.
func (p *place) glob(pattern string) []string {
	all, _ := filepath.Glob(filepath.Join(p.dir, "L", pattern)) // the pattern is good
	return all
}
