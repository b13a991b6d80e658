//go:build linux

package sftplab

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/sftpserver"
)

// TestFigures measures at OpenSSH the figures that the page about how locks work gives for sftp:.
// Round trips are counted in backends/sftp.
func TestFigures(t *testing.T) {
	t.Parallel()
	p := start(t, sftpserver.Options{})
	if !*long {
		p.handOffs(3)
		p.memory(2)
		return
	}
	p.handOffs(15)
	p.memory(10)
	p.waiters(20)
}

// handOffs measures the time from a release to the OK of the next holder, who has just come.
func (p *place) handOffs(count int) {
	var took []time.Duration
	for range count {
		first := p.hold()
		first.Held()
		next := lab.Waiting(p.t, p.hold)
		begin := time.Now()
		first.LetGo()
		took = append(took, next.Held().At.Sub(begin))
		next.Release()
	}
	slices.Sort(took)
	p.t.Logf("figure: sftp-handoff p50_ms=%d max_ms=%d", took[count/2].Milliseconds(), took[count-1].Milliseconds())
}

// memory measures the proportional set sizes of helpers that hold locks at the same time, and of
// their ssh.
func (p *place) memory(count int) {
	all := make([]*lab.Helper, count)
	for i := range all {
		one := *p
		one.address = p.server.Address(fmt.Sprintf("memory%d", i))
		all[i] = one.hold("--lease", "20s", "--beats")
	}
	for _, h := range all {
		h.Held()
		h.Says(protocol.WordBeat)
	}
	var helpers, ssh []int
	for _, h := range all {
		helpers = append(helpers, lab.PSS(p.t, h.PID()))
		for _, child := range sftpserver.Children(h.PID()) {
			ssh = append(ssh, lab.PSS(p.t, child))
		}
	}
	for _, h := range all {
		h.Release()
	}
	slices.Sort(helpers)
	slices.Sort(ssh)
	p.t.Logf("figure: sftp-memory count=%d helper_kib=%d ssh_kib=%d", count, helpers[count/2], ssh[len(ssh)/2])
}

// waiters counts what many waiters cost the server once they have waited for a minute.
func (p *place) waiters(count int) {
	const span = 20 * time.Second
	counted := *p
	first := p.hold()
	first.Held()
	var all []cut
	for range count {
		c := cut{dir: p.t.TempDir()}
		all = append(all, c)
		counted.ssh = c.ssh(p.t, p.ssh)
		lab.Waiting(p.t, counted.hold)
	}
	sum := func() (n int) {
		for _, c := range all {
			n += c.packets()
		}
		return n
	}
	time.Sleep(time.Minute)
	before := sum()
	time.Sleep(span)
	p.t.Logf("figure: sftp-waiters count=%d packets_a_second=%.1f", count, float64(sum()-before)/span.Seconds())
}
