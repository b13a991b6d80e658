package ftplab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/test/ftpserver"
)

// A figure is a line of output that a program can find: figure: NAME key=value…
func figure(t *testing.T, name, format string, args ...any) {
	t.Helper()
	t.Logf("figure: ftp-%s %s", name, fmt.Sprintf(format, args...))
}

// figures: what a lock costs the server, and its users.
func figures(t *testing.T, kind string) {
	for _, style := range []string{"plain", "dir"} {
		t.Run(style, func(t *testing.T) {
			p := start(t, kind, style, ftpserver.Options{})
			p.countCommands(t, kind)
			p.handoff(t, kind)
			p.memory(t, kind)
			if *long {
				p.waiters(t, kind)
			}
		})
	}
}

// countCommands counts commands on the control connection. A listing takes three
// round trips: EPSV, the data connection, NLST.
func (p *place) countCommands(t *testing.T, kind string) {
	by, proxy := p.in(t).behind()
	spent := func(do func()) int {
		before := work(proxy)
		do()
		return work(proxy) - before
	}
	free := func() backend.Attempt {
		a, err := by.open().Attempt(backendtest.Request())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var h backend.Hold
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	try := func(a backend.Attempt) error { var err error; h, err = a.Try(t.Context()); return err }
	must(try(free()))
	must(h.Release(t.Context()))
	proxy.Reset()
	acquire := spent(func() { must(try(free())) })
	login := 0
	for _, c := range proxy.Commands() {
		verb, _, _ := strings.Cut(c.Line, " ")
		if slices.Contains([]string{"USER", "PASS", "FEAT", "TYPE", "OPTS", "PRET"}, verb) {
			login++
		}
	}
	mine := h
	rival := free()
	refused := func() { _ = try(rival) } // it is held
	first := spent(refused)
	retry := spent(refused)
	must(rival.Withdraw(t.Context()))
	beat := spent(func() { must(mine.Heartbeat(t.Context())) })
	release := spent(func() { must(mine.Release(t.Context())) })
	// A server may lack what the first look would use, and is asked in another way.
	most := map[string][5]int{"plain": {8, 2, 3, 11, 1}, "dir": {12, 2, 2, 11, 2}}[p.style]
	for i, n := range [5]int{acquire - login, beat, release, first - login, retry} {
		if n > most[i] || n == 0 {
			t.Errorf("%d commands, want 1 to %d, to %s", n, most[i], [5]string{"acquire", "give a sign of life", "release", "try in vain", "try again"}[i])
		}
	}
	figure(t, "commands", "server=%s style=%s login=%d acquire=%d heartbeat=%d release=%d first_try_in_vain=%d retry=%d",
		kind, p.style, login, acquire-login, beat, release, first-login, retry)
}

// work counts commands, but not good-byes, which nobody waits for.
func work(proxy *ftpserver.Proxy) int {
	n := 0
	for _, c := range proxy.Commands() {
		if c.Line != "QUIT" {
			n++
		}
	}
	return n
}

// slowPause is the longest of a waiter that has not waited for long.
const slowPause = 2 * time.Second

// handoff measures how soon a waiter has a lock that is released: a pause later than if
// it had come just then.
func (p *place) handoff(t *testing.T, kind string) {
	const times = 7
	p = p.in(t)
	var took, alone []time.Duration
	for range times {
		begin := time.Now()
		first := p.hold()
		alone = append(alone, first.held().at.Sub(begin))
		next := p.hold()
		p.queued(1)
		time.Sleep(300 * time.Millisecond)
		next.silent()
		first.letGo()
		at := time.Now()
		took = append(took, next.held().at.Sub(at))
		next.release()
	}
	slices.Sort(took)
	slices.Sort(alone)
	if most := slowPause + time.Second + 5*alone[times/2]; took[times/2] > most {
		t.Errorf("%v from one to the next, want at most %v: who comes when the lock is free has it in %v", took[times/2], most, alone[times/2])
	}
	figure(t, "handoff", "server=%s style=%s median_ms=%d min_ms=%d max_ms=%d alone_ms=%d", kind, p.style,
		took[times/2].Milliseconds(), took[0].Milliseconds(), took[times-1].Milliseconds(), alone[times/2].Milliseconds())
}

// waiters counts what twenty that have waited for a minute cost the server.
func (p *place) waiters(t *testing.T, kind string) {
	const count, span = 20, 10 * time.Second
	by, proxy := p.in(t).behind()
	first := by.hold()
	first.held()
	for range count {
		by.hold()
	}
	by.queued(count)
	time.Sleep(time.Minute)
	before := len(proxy.Commands())
	time.Sleep(span)
	n := len(proxy.Commands()) - before
	if n > count*int(span.Seconds()) {
		t.Errorf("%d commands in %v by %d waiters, want at most one a second for each", n, span, count)
	}
	figure(t, "waiters", "server=%s style=%s count=%d commands_a_second=%.1f", kind, p.style, count, float64(n)/span.Seconds())
}

// memory measures idle helpers: their proportional set size, which is their own
// memory and their share of what they have in common (proc_pid_smaps(5)). A helper that
// talks to a server needs more than one of local:, but not many times as much.
func (p *place) memory(t *testing.T, kind string) {
	const count, times = 10, 3
	sizes := sizesOf(t, count, func() *helper { return p.in(t).hold() })
	local := sizesOf(t, count, func() *helper { return p.holdAt("local:" + filepath.Join(t.TempDir(), "L")) })
	if sizes[count/2] > times*local[count/2] {
		t.Errorf("the median is %d KiB, more than %d times that of local:, %d KiB", sizes[count/2], times, local[count/2])
	}
	figure(t, "memory", "server=%s style=%s count=%d median_kib=%d max_kib=%d local_median_kib=%d", kind, p.style, count,
		sizes[count/2], sizes[count-1], local[count/2])
}

// sizesOf are those of helpers that have held for a while, in order.
func sizesOf(t *testing.T, count int, hold func() *helper) (sizes []int) {
	t.Helper()
	var held []*helper
	for range count {
		h := hold()
		h.held()
		held = append(held, h)
	}
	time.Sleep(3 * time.Second)
	for _, h := range held {
		sizes = append(sizes, pss(t, h.cmd.Process.Pid))
	}
	for _, h := range held {
		h.release()
	}
	slices.Sort(sizes)
	return sizes
}

// pss is in KiB.
func pss(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "Pss: %d kB", &n); err == nil {
			return n
		}
	}
	t.Fatalf("no Pss in %q", text)
	return 0
}
