package ftplab

import (
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// idle: a server that closes connections which are silent for 3 s, while
// heartbeats come every 5. Nothing is lost by that.
func idle(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p, proxy := start(t, kind, style, ftpserver.Options{Idle: 3 * time.Second}).behind()
		h := p.hold("--lease", "20s", "--beats")
		id := h.held().Value("id")
		next := p.hold("--lease", "20s")
		h.next("BEAT")
		h.next("BEAT")
		if holder := p.holder(); holder != id {
			t.Errorf("held by %q", holder)
		}
		h.release()
		next.held()
		next.release()
		if n := proxy.Conns(); n < 3 {
			t.Errorf("%d connections: nothing was closed", n)
		}
		p.atRest()
	})
}

// noTransfer: ProFTPD closes connections without a transfer. The first time it
// comes as a surprise; from then on we keep the connection.
func noTransfer(t *testing.T, kind string) {
	p, proxy := start(t, kind, "plain", ftpserver.Options{NoTransfer: 12 * time.Second}).behind()
	h := p.hold("--lease", "72s", "--beats") // a heartbeat every 18 s
	h.held()
	h.next("BEAT")
	if n := proxy.Conns(); n != 2 {
		t.Errorf("%d connections until the first heartbeat, want the first one closed", n)
	}
	h.next("BEAT")
	if n := proxy.Conns(); n != 2 {
		t.Errorf("%d connections until the second heartbeat: it was not kept\n%s", n, commandsTo(proxy))
	}
	h.release()
	p.atRest()
}
