//go:build unix

package history

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/test/etcdserver"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/s3server"
)

// most is how many faults are printed.
const most = 10

// TestHistory kills parents and helpers of all kinds of locks at random. It looks for two holders
// inside, tokens that do not rise, and locks that nobody gets any more.
func TestHistory(t *testing.T) {
	lab.NotShort(t, "it kills processes for half a minute")
	t.Parallel()
	lab.Program(t, "cmd/locksmith-remote") // for s3:, in the same directory as the other
	newHistory(t, toKill(), func(k kind) kind { return k }).run()
}

// A history runs some cells, and records what becomes of them.
type history struct {
	*testing.T
	r       *recorder
	chosen  []kind
	cells   []*cell
	tallies map[string]*tally
}

// newHistory prepares a history of the chosen kinds, each as changed returns it.
func newHistory(t *testing.T, kills int, changed func(kind) kind) *history {
	t.Helper()
	chance := *seed
	if chance == 0 {
		chance = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d -kills %d", chance, kills)
	h := &history{T: t, r: newRecorder(t, chance, kills)}
	h.chosen, h.cells, h.tallies = newCells(t, changed)
	return h
}

// run runs the history to its end, and judges it.
func (h *history) run() {
	h.Helper()
	helper, parent := lab.Program(h, "cmd/locksmith"), lab.Program(h, "test/history/parent")
	begin := clock.Boot{}.Now()
	all := start(h.T, h.r, h.cells, parent)
	var watchers sync.WaitGroup
	for _, c := range h.cells {
		watchers.Go(func() { watch(h.T, h.r, c, helper) })
	}
	await(h.T, h.r, h.cells)
	rate := float64(h.r.deaths) / (clock.Boot{}.Now() - begin).Seconds()
	all.finish()
	watchers.Wait()
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	h.Logf("%d kills, %.1f a second\n%s", h.r.deaths, rate, table(h.chosen, h.tallies))
	h.r.report(h.T)
	reportTallies(h.T, h.tallies)
	judge(h.T, h.cells)
}

// newCells makes the cells of the chosen kinds, each as changed returns it.
func newCells(t *testing.T, changed func(kind) kind) (chosen []kind, cells []*cell, tallies map[string]*tally) {
	t.Helper()
	pattern, err := regexp.Compile(*chosenKinds)
	if err != nil {
		t.Fatal(err)
	}
	server, store := ftpserver.Start(t, "embedded", ftpserver.Options{}), s3server.Start(t, s3server.Embedded)
	flock1, err := filepath.Abs("testdata/flock/locksmith")
	if err != nil {
		t.Fatal(err)
	}
	dir := directory(t)
	tallies = map[string]*tally{}
	for _, k := range kinds(server, store, etcdserver.Start(t, etcdserver.Options{}), flock1) {
		if k = changed(k); k.cells == 0 || !pattern.MatchString(k.name) {
			continue
		}
		chosen = append(chosen, k)
		tallies[k.name] = &tally{}
		for i := range k.cells {
			name := fmt.Sprintf("%s%d", strings.Trim(regexp.MustCompile("[^a-z]+").ReplaceAllString(k.name, "-"), "-"), i)
			cells = append(cells, newCell(t, dir, k, name, server, tallies[k.name]))
		}
	}
	return chosen, cells, tallies
}

// await returns when all kills are done and every lock has been taken once more since then, or is
// stuck.
func await(t *testing.T, r *recorder, cells []*cell) {
	t.Helper()
	minutes := time.NewTicker(time.Minute)
	defer minutes.Stop()
	for last, idle, calm := 0, 0, false; !calm; {
		select {
		case <-r.calmed:
			calm = true
		case <-minutes.C:
			n := r.killed()
			t.Logf("%d kills", n)
			if idle++; n > last {
				last, idle = n, 0
			}
			if idle == 3 { // the machine may have paused once
				t.Error("nobody was killed for minutes")
				return
			}
		}
	}
	since := clock.Boot{}.Now()
	r.eventually(t, "every lock is taken after the last kill", func() bool {
		for _, c := range cells {
			for _, l := range c.locks {
				if !l.stuck && (len(l.sections) == 0 || l.sections[len(l.sections)-1].enter < since) {
					return false
				}
			}
		}
		return true
	})
}

// report reports faults other than the order of sections.
func (r *recorder) report(t *testing.T) {
	t.Helper()
	for _, fault := range r.faults[:min(most, len(r.faults))] {
		t.Error(fault)
	}
	for why, n := range r.misses {
		t.Logf("missed without an injection, %d times: %s", n, why)
	}
	if said := r.said(); said != "" {
		t.Logf("standard error begins:\n%s", said)
	}
}

// reportTallies checks that everything that should happen did happen.
func reportTallies(t *testing.T, tallies map[string]*tally) {
	t.Helper()
	helpers := 0
	for name, sum := range tallies {
		if longest := quantile(sum.release, 100); longest >= lab.Patience {
			t.Errorf("%s: a helper lived on for %v after its parent", name, longest)
		}
		if sum.left == 0 {
			t.Errorf("%s: nobody was inside", name)
		}
		helpers += sum.injections[killHelper]
	}
	if helpers == 0 {
		t.Error("no helper was killed: perhaps this kernel does not show children in /proc")
	}
}
