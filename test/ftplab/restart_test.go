package ftplab

import (
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// restart: the server goes away while somebody has the lock and others wait. If
// it comes back within the lease the holder keeps it; else the holder says that it is
// lost. In both cases the others get it afterwards.
func restart(t *testing.T, kind, style string) {
	for name, scenario := range map[string]func(*place){"back in time": (*place).backInTime, "too late": (*place).backTooLate} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(start(t, kind, style, ftpserver.Options{}))
		})
	}
}

func (p *place) backInTime() {
	const lease = "32s" // a heartbeat every 8 s
	first := p.record("--lease", lease, "--beats")
	id := first.Held().Value("id")
	a, b := p.wait("--lease", lease), p.wait("--lease", lease)
	p.server.Stop()
	lab.Eventually(p.t, "a heartbeat fails", func() bool { return first.has("late") }, first.Stderr)
	p.server.Restart()
	first.Says(protocol.WordBeat)
	for _, w := range []*lab.Helper{a, b} {
		w.Silent(time.Millisecond)
	}
	if holder := p.holder(); holder != id {
		p.t.Errorf("held by %q, want %s", holder, id)
	}
	first.Release()
	inTurn(a, b)
	p.atRest()
}

func (p *place) backTooLate() {
	first := p.hold("--lease", "12s")
	first.Held()
	a, b := p.wait(), p.wait()
	p.server.Stop()
	if code := first.Says(protocol.WordLost).Value("code"); code != "expired" {
		p.t.Errorf("lost: %s", code)
	}
	for _, w := range []*lab.Helper{a, b} {
		w.Silent(time.Millisecond)
	}
	p.server.Restart()
	first.LetGo()
	first.Exits(protocol.Expired.Exit())
	inTurn(a, b)
	p.clean()
}
