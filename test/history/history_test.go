package history

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/backends/clock"
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
	chance := *seed
	if chance == 0 {
		chance = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d -kills %d", chance, toKill())
	lab.Program(t, "cmd/locksmith-remote") // for s3:, in the same directory as the other
	helper, parent := lab.Program(t, "cmd/locksmith"), lab.Program(t, "test/history/parent")
	r := newRecorder(t, chance, toKill())
	chosen, cells, tallies := newCells(t)
	begin := clock.Boot{}.Now()
	all := start(t, r, cells, parent)
	var watchers sync.WaitGroup
	for _, c := range cells {
		watchers.Go(func() { watch(t, r, c, helper) })
	}
	await(t, r, cells)
	rate := float64(r.deaths) / (clock.Boot{}.Now() - begin).Seconds()
	all.finish()
	watchers.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%d kills, %.1f a second\n%s", r.deaths, rate, table(chosen, tallies))
	r.report(t)
	reportTallies(t, tallies)
	judge(t, cells)
}

// newCells makes the cells of the chosen kinds.
func newCells(t *testing.T) (chosen []kind, cells []*cell, tallies map[string]*tally) {
	t.Helper()
	pattern, err := regexp.Compile(*chosenKinds)
	if err != nil {
		t.Fatal(err)
	}
	server, store := ftpserver.Start(t, "embedded", ftpserver.Options{}), s3server.Start(t, s3server.Embedded)
	dir := directory(t)
	tallies = map[string]*tally{}
	for _, k := range kinds(server, store) {
		if !pattern.MatchString(k.name) {
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
