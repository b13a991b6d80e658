package ftplab

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

// contenders: eight processes at a time take the lock, and some are killed with
// -9 at random moments. Nobody meets anybody, and what the killed leave, those
// who come later clear up, or reap.
func contenders(t *testing.T, kind, style string) {
	m := contention{place: start(t, kind, style, ftpserver.Options{}), history: newHistory(t)}
	easy := true
	for m.rounds = 50; easy && m.rounds <= 250; m.rounds += 50 { // who meets whom is chance
		m.run(8)
		r := m.history.check(t, style)
		together := holds.Together(r.held)
		t.Logf("%d holders, %d pairs together, %d kills, %d orphans reaped", len(r.held), together, len(r.kills), m.orphans)
		easy = len(r.kills) == 0 || style == "dir" && together == 0
	}
	if easy {
		t.Error("it was too easy")
	}
	m.place.clean()
}

// A contention is that of many helpers for one lock.
type contention struct {
	place   *place
	history *history
	rounds  int32 // that must end well

	done    atomic.Int32
	orphans int
}

// run lets a number of helpers contend at a time until there were enough rounds.
func (m *contention) run(helpers int) {
	var wg sync.WaitGroup
	for range helpers {
		wg.Go(func() {
			for m.done.Load() < m.rounds {
				m.round()
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	m.reapOrphans(over)
}

// round takes the lock once, unless it is killed.
func (m *contention) round() {
	t, mode, flags := m.place.t, "exclusive", []string{"--lease", "10s"}
	if m.place.style == "dir" && rand.IntN(2) == 0 {
		mode, flags = "shared", append(flags, "--shared")
	}
	work := time.Duration(rand.IntN(10)) * time.Millisecond
	helper := lab.Start(t, m.place.guarded(m.history, mode, work.String(), flags...))
	killed := rand.IntN(4) == 0 && m.kill(helper)
	switch status := helper.Status(); {
	case status == 0:
		m.done.Add(1)
	case strings.Contains(helper.Stderr(), "too slow for the lease"): // this machine is
	case !killed:
		t.Errorf("%s: exit status %d\n%s", mode, status, helper.Stderr())
	}
}

// kill kills a helper at some moment, mostly while it is busy with the server, unless it
// ends before.
func (m *contention) kill(helper *lab.Process) bool {
	limit := []time.Duration{60 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second}[rand.IntN(3)]
	select {
	case <-helper.Ended():
		return false
	case <-time.After(rand.N(limit)):
	}
	m.history.killed(m.place.t, helper.PID())
	helper.Kill()
	return true
}

// orphanLooks is how often an empty lock must look the same, looked at every 50 ms, to be
// taken for an orphan. That is counted, since of a machine that pauses all of us do.
const orphanLooks = 60

// reapOrphans does what an operator's cron job does, until all is over: it removes
// an empty lock of plain style that nobody has touched for long.
func (m *contention) reapOrphans(over <-chan struct{}) {
	if m.place.style == "dir" {
		<-over
		return
	}
	var since time.Time
	for looks := 0; ; looks++ {
		select {
		case <-over:
			return
		case <-time.After(50 * time.Millisecond):
		}
		if now := m.emptied(); now.IsZero() || !now.Equal(since) {
			since, looks = now, 0
			continue
		}
		if looks > orphanLooks {
			m.orphans++
			m.place.aged("L")
			m.place.must("reap", "--max-age", "10m", "--name", "L", "--yes", m.place.directory())
			looks = 0
		}
	}
}

// emptied tells since when the lock is empty, or zero.
func (m *contention) emptied() time.Time {
	name := filepath.Join(m.place.dir, "L")
	info, err := os.Stat(name)
	if err != nil {
		return time.Time{}
	}
	in, err := os.ReadDir(name)
	if err != nil || len(in) > 0 {
		return time.Time{}
	}
	return info.ModTime()
}
