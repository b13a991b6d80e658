//go:build unix

package ftplab

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// figure prints a measurement as a line that a program can find: figure: NAME key=value…
func figure(t *testing.T, name, format string, args ...any) {
	t.Helper()
	t.Logf("figure: ftp-%s %s", name, fmt.Sprintf(format, args...))
}

// commands counts on the control connection what a lock costs the server. A listing takes three
// round trips: EPSV, the data connection, NLST.
func commands(t *testing.T, kind, style string) {
	p, proxy := start(t, kind, style, ftpserver.Options{}).behind()
	spent := func(do func()) int {
		before := work(proxy)
		do()
		return work(proxy) - before
	}
	free := func() backend.Attempt {
		a, err := p.open().Attempt(backendtest.Request())
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
	refused := func() { _ = try(rival) } // the lock is held
	first := spent(refused)
	retry := spent(refused)
	must(rival.Withdraw(t.Context()))
	beat := spent(func() { must(mine.Heartbeat(t.Context())) })
	release := spent(func() { must(mine.Release(t.Context())) })
	// A server may lack the command that the first look prefers, and is then asked in another way.
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

// slowPause is the longest pause between two tries of a waiter that has not waited for long.
const slowPause = 2 * time.Second

// handoff measures how soon after a release a waiter has the lock: at most a pause later than
// somebody who comes just then.
func handoff(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	const times = 7
	var took, alone []time.Duration
	for range times {
		begin := time.Now()
		first := p.hold()
		alone = append(alone, first.Held().At.Sub(begin))
		next := p.wait()
		at := time.Now()
		first.LetGo()
		took = append(took, next.Held().At.Sub(at))
		next.Release()
	}
	slices.Sort(took)
	slices.Sort(alone)
	if most := slowPause + time.Second + 5*alone[times/2]; took[times/2] > most {
		t.Errorf("%v from a release to the next holder, want at most %v: who comes when the lock is free has it in %v", took[times/2], most, alone[times/2])
	}
	figure(t, "handoff", "server=%s style=%s median_ms=%d min_ms=%d max_ms=%d alone_ms=%d", kind, p.style,
		took[times/2].Milliseconds(), took[0].Milliseconds(), took[times-1].Milliseconds(), alone[times/2].Milliseconds())
}

// waiters counts the commands that twenty waiters cost the server once they have waited for a
// minute.
func waiters(t *testing.T, kind, style string) {
	p, proxy := start(t, kind, style, ftpserver.Options{}).behind()
	const count, span = 20, 10 * time.Second
	first := p.hold()
	first.Held()
	for range count {
		p.wait()
	}
	time.Sleep(time.Minute)
	before := len(proxy.Commands())
	time.Sleep(span)
	n := len(proxy.Commands()) - before
	if n > count*int(span.Seconds()) {
		t.Errorf("%d commands in %v by %d waiters, want at most one a second for each", n, span, count)
	}
	figure(t, "waiters", "server=%s style=%s count=%d commands_a_second=%.1f", kind, p.style, count, float64(n)/span.Seconds())
}

// memory measures the proportional set size of idle helpers: their own memory and their share of
// what they have in common (proc_pid_smaps(5)). A helper that talks to a server needs more than a
// helper of local:, but not many times as much.
func memory(t *testing.T, kind, style string) {
	const count, times = 10, 3
	p := start(t, kind, style, ftpserver.Options{})
	sizes := sizesOf(t, count, func() *lab.Helper { return p.in(t).hold("--lease", "8s", "--beats") })
	local := sizesOf(t, count, func() *lab.Helper {
		return lab.Hold(t, exec.Command(lab.Program(t, "cmd/locksmith"), "hold", "--lease", "8s", "--beats", "local:"+filepath.Join(t.TempDir(), "L")))
	})
	if sizes[count/2] > times*local[count/2] {
		t.Errorf("the median is %d KiB, more than %d times that of local:, %d KiB", sizes[count/2], times, local[count/2])
	}
	figure(t, "memory", "server=%s style=%s count=%d median_kib=%d max_kib=%d local_median_kib=%d", kind, p.style, count,
		sizes[count/2], sizes[count-1], local[count/2])
}

// sizesOf returns, in order, the sizes of helpers that have held a lock for a heartbeat.
func sizesOf(t *testing.T, count int, hold func() *lab.Helper) (sizes []int) {
	t.Helper()
	held := make([]*lab.Helper, count)
	for i := range held {
		held[i] = hold()
	}
	for _, h := range held {
		h.Held()
		h.Says(protocol.WordBeat)
	}
	for _, h := range held {
		sizes = append(sizes, lab.PSS(t, h.PID()))
	}
	for _, h := range held {
		h.Release()
	}
	slices.Sort(sizes)
	return sizes
}
