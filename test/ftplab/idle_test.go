//go:build unix

package ftplab

import (
	"sync/atomic"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// idle: the server closes connections that are silent for 3 s, and heartbeats come every 5 s. The
// lock is not lost by that.
func idle(t *testing.T, kind, style string) {
	p, proxy := start(t, kind, style, ftpserver.Options{Idle: 3 * time.Second}).behind()
	h := p.hold("--lease", "20s", "--beats")
	id := h.Held().Value("id")
	next := p.hold("--lease", "20s")
	h.Says(protocol.WordBeat)
	h.Says(protocol.WordBeat)
	if holder := p.holder(); holder != id {
		t.Errorf("the holder is %q, want %q", holder, id)
	}
	h.Release()
	lab.InTurn(next)
	if n := proxy.Conns(); n < 3 {
		t.Errorf("%d connections, want at least 3: the server closed none", n)
	}
	p.atRest()
}

// noTransfer: ProFTPD closes connections without a transfer. The first time that comes as a
// surprise; from then on the helper keeps its connection open. If the machine was paused, and so
// kept nothing open, the count shows nothing, and the test starts again.
func noTransfer(t *testing.T, kind, style string) {
	server := start(t, kind, style, ftpserver.Options{NoTransfer: 12 * time.Second})
	for paused := true; paused; {
		p, proxy := server.in(t).behind()
		longest := watchPauses(t)
		h := p.hold("--lease", "72s", "--beats") // a heartbeat every 18 s
		h.Held()
		h.Says(protocol.WordBeat)
		first := proxy.Conns()
		h.Says(protocol.WordBeat)
		second := proxy.Conns()
		if paused = longest() > time.Second; !paused && (first != 2 || second != 2) {
			t.Errorf("%d connections until the first heartbeat, want one that was closed and another; %d until the second\n%s",
				first, second, commandsTo(proxy))
		}
		h.Release()
		p.atRest()
	}
}

// watchPauses measures the longest time for which this machine has not let us do anything.
func watchPauses(t *testing.T) (longest func() time.Duration) {
	const look = 50 * time.Millisecond
	var most atomic.Int64
	go func() {
		for last := time.Now(); t.Context().Err() == nil; {
			time.Sleep(look)
			now := time.Now()
			most.Store(max(most.Load(), int64(now.Sub(last)-look)))
			last = now
		}
	}()
	return func() time.Duration { return time.Duration(most.Load()) }
}
