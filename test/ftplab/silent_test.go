//go:build unix

package ftplab

import (
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// silent: the server says nothing any more, as behind a firewall that has forgotten the
// connection. The helper keeps to its time limits, and goes on over another connection if it can.
func silent(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	for name, scenario := range map[string]func(*place, *ftpserver.Proxy){
		"from the beginning":           (*place).silentAlways,
		"while waiting":                (*place).silentWaiting,
		"one connection while holding": (*place).silentConnection,
		"all while holding":            (*place).silentHolding,
		"while releasing":              (*place).silentReleasing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(p.in(t).behind())
		})
	}
}

var stall = ftpserver.Fault{Do: ftpserver.Stall}

// silentAlways: the server is silent to a command that waits for 2 s and to one that tries once.
func (p *place) silentAlways(proxy *ftpserver.Proxy) {
	proxy.Fail(ftpserver.Every, stall)
	for _, flags := range [][]string{{"--timeout", "2s"}, {"--timeout", "0", "--lease", "2s"}} {
		status, said := p.do(append(append([]string{"run"}, flags...), p.address(), "--", "true")...)
		if status != protocol.Unreachable.Exit() && status != protocol.Held.Exit() {
			p.t.Errorf("%q: exit status %d: %s", flags, status, said)
		}
	}
	proxy.Heal()
	p.atRest()
}

func (p *place) silentWaiting(proxy *ftpserver.Proxy) {
	first := p.direct().hold()
	first.Held()
	next := p.wait("--timeout", "20s", "--lease", "4s")
	proxy.Fail(ftpserver.Every, stall)
	p.t.Log(next.Says(protocol.WordErr).Text)
	next.Exits(protocol.Held.Exit())
	first.Release()
	proxy.Heal()
	p.clean()
}

// silentConnection: only the helper's present connection is silent; a new one works. The silence
// begins between two heartbeats, after the housekeeping that follows the first one.
func (p *place) silentConnection(proxy *ftpserver.Proxy) {
	h := p.hold("--lease", "48s", "--beats")
	h.Held()
	h.Says(protocol.WordBeat)
	said := -1
	lab.Eventually(p.t, "it keeps house no more", func() bool {
		before := said
		said = len(proxy.Commands())
		time.Sleep(500 * time.Millisecond)
		return said == before
	})
	for i := range proxy.Conns() {
		proxy.Fail(i, stall)
	}
	h.Says(protocol.WordBeat) // over another connection
	h.Release()
	p.atRest()
}

func (p *place) silentHolding(proxy *ftpserver.Proxy) {
	h := p.hold("--lease", "16s")
	h.Held()
	proxy.Fail(ftpserver.Every, stall)
	h.Says(protocol.WordLost)
	h.LetGo()
	h.Exits(protocol.Expired.Exit())
	proxy.Heal()
	p.clean()
}

func (p *place) silentReleasing(proxy *ftpserver.Proxy) {
	h := p.hold("--lease", "16s")
	h.Held()
	proxy.Fail(ftpserver.Every, stall)
	h.LetGo()
	h.Exits(protocol.Expired.Exit())
	p.t.Log(h.Stderr())
	proxy.Heal()
	p.clean()
}
