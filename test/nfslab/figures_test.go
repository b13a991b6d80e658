//go:build linux

package nfslab

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

// figure prints a measurement as a line that the benchmark can find: figure: NAME key=value…
func figure(t *testing.T, name, format string, args ...any) {
	t.Helper()
	t.Logf("figure: %s %s %s", name, here(), fmt.Sprintf(format, args...))
}

// A tally is how many requests of each kind a host has sent for its mount.
type tally map[string]int

// operation matches a line "KIND: operations transmissions …".
var operation = regexp.MustCompile(`(?m)^\s+([A-Z_]+): (\d+) \d+ `)

// calls reads host k's tally, of the mount at /mnt/nfs alone.
func calls(t *testing.T, k int) tally {
	t.Helper()
	text, err := os.ReadFile(guest.Proc(k) + "/mountstats")
	mustWork(t, err)
	_, ours, found := strings.Cut(string(text), " mounted on "+mount+" ")
	ours, _, _ = strings.Cut(ours, "\ndevice ")
	if !found {
		t.Fatalf("no statistics of %s:\n%s", mount, text)
	}
	all := tally{}
	for _, m := range operation.FindAllStringSubmatch(ours, -1) {
		all[m[1]], _ = strconv.Atoi(m[2])
	}
	return all
}

// since adds up the requests that came after another tally was read, divides the sum by the
// number by, and lists them by kind.
func (a tally) since(before tally, by float64) (sum float64, what string) {
	for _, kind := range slices.Sorted(maps.Keys(a)) {
		if n := float64(a[kind]-before[kind]) / by; n > 0 {
			sum += n
			what += fmt.Sprintf(", %s %.2f", kind, n)
		}
	}
	return sum, what
}

// requests counts what one uncontended lock costs the server.
func requests(t *testing.T) {
	const warm, times, limit = 3, 20, 15 // one of them proves the lock before the release
	lock := place(t)
	var before tally
	for i := range warm + times {
		if i == warm {
			before = calls(t, 1)
		}
		h := hold(t, 1, lock)
		h.Held()
		h.Release()
	}
	each, what := calls(t, 1).since(before, times)
	figure(t, "requests", "each=%.2f limit=%d%s", each, limit, what)
	if each > limit {
		t.Errorf("%.2f requests to acquire and release, want at most %d", each, limit)
	}
}

// waiters counts the requests that twenty waiters cost the server. The longer a waiter has
// waited, the more seldom it asks.
func waiters(t *testing.T) {
	const count, limit, span = 20, 25, 10 * time.Second
	lock := place(t)
	hold(t, 3, lock).Held()
	var all []*holder
	for i := range count {
		all = append(all, hold(t, i%2+1, lock))
	}
	queued(t, lock, count+1)
	time.Sleep(span)
	one, two, at := calls(t, 1), calls(t, 2), time.Now()
	time.Sleep(span)
	took := time.Since(at).Seconds()
	n1, what := calls(t, 1).since(one, took)
	n2, _ := calls(t, 2).since(two, took)
	for _, h := range all {
		h.silent()
	}
	figure(t, "waiters", "count=%d requests_a_second=%.1f limit=%d; of half of them%s", count, n1+n2, limit, what)
	if n1+n2 > limit {
		t.Errorf("%.1f requests a second by %d waiters, want at most %d", n1+n2, count, limit)
	}
}

// handoff measures how soon after a release a waiter on another host has the lock: not much later
// than somebody who comes just then, for the waiter is the first in the queue.
func handoff(t *testing.T) {
	const times = 9
	lock := place(t)
	var took, alone []time.Duration
	for range times {
		first := hold(t, 1, lock)
		alone = append(alone, first.Held().At.Sub(first.began))
		next := hold(t, 2, lock)
		queued(t, lock, 2)
		next.Silent(300 * time.Millisecond) // it sleeps now
		at := time.Now()
		first.LetGo()
		took = append(took, next.Held().At.Sub(at))
		next.Release()
	}
	slices.Sort(took)
	slices.Sort(alone)
	if most := time.Second + 5*alone[times/2]; took[times/2] > most {
		t.Errorf("%v from one to the next, want at most %v: who comes when the lock is free has it in %v", took[times/2], most, alone[times/2])
	}
	figure(t, "handoff", "median_ms=%d min_ms=%d max_ms=%d alone_ms=%d", took[times/2].Milliseconds(), took[0].Milliseconds(),
		took[times-1].Milliseconds(), alone[times/2].Milliseconds())
}

// loops increment the counter $C under the lock $L until the file $S exists, and print how often
// they did. In the first two each increment is a command of its own, and most of the time goes
// into starting commands. The third is one of the benchmark's loopers: it finds the counter and
// the file that stops it in a directory of its own, and writes a line for each increment.
var loops = []struct{ name, program string }{
	{"commands", repeated(`locksmith run --lease 60s "nfs:$L" -- sh -c '` + counting + `'`)},
	{"mkdir_commands", repeated(napping + `sh -c '` + counting + `'; rmdir "$L"`)},
	{"looping", `d=$(mktemp -d); ln -s "$C" "$d/counter"; ln -s "$S" "$d/stop"; : >"$d/log"
looper backend "nfs:$L" "$d" "$$" >/dev/null && wc -l <"$d/log"; rm -r "$d"`},
	{"mkdir_looping", repeated(napping + counting + `; rmdir "$L"`)},
}

const (
	workers  = 8
	counting = `read n <"$C"; echo $((n+1)) >"$C"`
	napping  = `until mkdir "$L" 2>/dev/null; do sleep 0.05; done; `
)

// repeated makes a loop of a command for the shell.
func repeated(body string) string {
	return `i=0; until [ -e "$S" ]; do ` + body + `; i=$((i+1)); done; echo $i`
}

// increments measures how often eight processes on three hosts get a lock, and then the same with
// the literature's loop. No increment may be lost.
func increments(t *testing.T) {
	lock := place(t)
	said := fmt.Sprintf("workers=%d", workers)
	for i, loop := range loops {
		said += fmt.Sprintf(" %s=%.1f", loop.name, count(t, fmt.Sprintf("%s%d", lock, i), loop.program))
	}
	figure(t, "increments", "%s", said)
}

// count runs a loop on all workers, and returns how many increments a second they make once they
// have made as many as there are workers.
func count(t *testing.T, lock, program string) float64 {
	t.Helper()
	counter, stop := lock+".counter", "/mnt/lab/stop-"+filepath.Base(lock) // seen by all hosts
	mustWork(t, os.WriteFile(onServer(counter), []byte("0\n"), 0o666))
	program = fmt.Sprintf("export L=%s C=%s S=%s; %s", lock, counter, stop, program)
	var all []*lab.Process
	for i := range workers {
		cmd := guest.On(i%crowdHosts+1, "sh", "-uc", program)
		cmd.Stdin, _ = os.Open(os.DevNull)
		all = append(all, lab.Start(t, cmd))
	}
	reached := func(n int) time.Time {
		lab.Eventually(t, "increments", func() bool { return counted(counter) >= n })
		return time.Now()
	}
	from := reached(workers)
	first := counted(counter)
	to := reached(first + 5*workers)
	rate := float64(counted(counter)-first) / to.Sub(from).Seconds()
	mustWork(t, os.WriteFile(stop, nil, 0o666))
	total := 0
	for _, p := range all {
		n, _ := strconv.Atoi(strings.TrimSpace(p.Line()))
		total += n
		p.Exits(0)
	}
	if got := counted(counter); got != total {
		t.Errorf("the counter is %d after %d increments", got, total)
	}
	return rate
}

// counted reads the counter as the server has it; 0: it is just being written.
func counted(counter string) (n int) {
	text, _ := os.ReadFile(onServer(counter))
	if strings.HasSuffix(string(text), "\n") {
		n, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return n
}
