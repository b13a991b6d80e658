package ftplab

import (
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// silent: a server that says nothing any more, as behind a firewall that has
// forgotten the connection. The helper keeps to its times, and goes on by another
// connection if it can.
func silent(t *testing.T, kind string) {
	p := start(t, kind, "plain", ftpserver.Options{})
	t.Run("from the beginning", p.silentAlways)
	t.Run("while waiting", p.silentWaiting)
	t.Run("one connection while holding", p.silentConnection)
	t.Run("all while holding", p.silentHolding)
	t.Run("while releasing", p.silentReleasing)
}

var stall = ftpserver.Fault{Do: ftpserver.Stall}

// silentAlways: one try, and a time to wait.
func (p *place) silentAlways(t *testing.T) {
	t.Parallel()
	p, proxy := p.in(t).behind()
	proxy.Fail(ftpserver.Every, stall)
	start := time.Now()
	if status, said := p.do("run", "--timeout", "2s", p.address(), "--", "true"); status != 69 && status != 75 {
		t.Errorf("exit status %d: %s", status, said)
	}
	if status, said := p.do("run", "--timeout", "0", "--lease", "2s", p.address(), "--", "true"); status != 69 && status != 75 {
		t.Errorf("exit status %d: %s", status, said)
	}
	t.Logf("both gave up after %v", time.Since(start).Round(time.Millisecond))
	proxy.Heal()
	p.atRest()
}

func (p *place) silentWaiting(t *testing.T) {
	t.Parallel()
	p, proxy := p.in(t).behind()
	first := p.direct().hold()
	first.held()
	next := p.wait("--timeout", "8s", "--lease", "4s")
	proxy.Fail(ftpserver.Every, stall)
	s := next.next("ERR")
	next.exit(75)
	t.Logf("it said %q %q", next.line(s), s.Text)
	first.release()
	proxy.Heal()
	p.clean()
}

// silentConnection: only the connection that the helper has; a new one is fine. It
// happens between two heartbeats, after the housekeeping that follows the first.
func (p *place) silentConnection(t *testing.T) {
	t.Parallel()
	p, proxy := p.in(t).behind()
	h := p.hold("--lease", "48s", "--beats")
	h.held()
	h.next("BEAT")
	time.Sleep(time.Second)
	for i := range proxy.Conns() {
		proxy.Fail(i, stall)
	}
	h.next("BEAT") // by another connection
	h.release()
	p.atRest()
}

func (p *place) silentHolding(t *testing.T) {
	t.Parallel()
	p, proxy := p.in(t).behind()
	h := p.hold("--lease", "4s")
	h.held()
	start := time.Now()
	proxy.Fail(ftpserver.Every, stall)
	t.Logf("lost after %v", h.next("LOST").at.Sub(start).Round(time.Millisecond))
	h.letGo()
	h.exit(79)
	proxy.Heal()
	p.clean()
}

func (p *place) silentReleasing(t *testing.T) {
	t.Parallel()
	p, proxy := p.in(t).behind()
	h := p.hold("--lease", "4s")
	h.held()
	start := time.Now()
	proxy.Fail(ftpserver.Every, stall)
	h.letGo()
	h.exit(79)
	t.Logf("gave up after %v: %s", time.Since(start).Round(time.Millisecond), &h.stderr)
	proxy.Heal()
	p.clean()
}
