//go:build unix

package ftplab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
)

// contenders: eight processes at a time take the lock, and some are killed with -9 at random
// moments. No two hold it together, and later processes, or reap, clear up what the killed ones
// left.
func contenders(t *testing.T, kind, style string) {
	m := newContention(t, start(t, kind, style, ftpserver.Options{}))
	easy := true
	for m.Rounds = 25; easy && m.Rounds <= 250; m.Rounds *= 2 { // how many contend with each other is chance
		m.run(8)
		r := m.Log.Check(t, m.Shared)
		together := holds.Together(r.Held)
		t.Logf("%d holders, %d pairs together, %d kills, %d orphans reaped", len(r.Held), together, len(r.Kills), m.orphans)
		easy = len(r.Kills) == 0 || style == "dir" && together == 0
	}
	if easy {
		t.Error("it was too easy")
	}
	m.place.clean()
}

// A contention is a contest at a place.
type contention struct {
	contest.Contest
	place   *place
	orphans int
}

func newContention(t *testing.T, p *place) *contention {
	return &contention{place: p, Contest: contest.Contest{Log: contest.NewLog(t), Command: p.under, Shared: p.style == "dir"}}
}

// run lets so many helpers contend at a time, until there were enough rounds.
func (m *contention) run(helpers int) { m.reapOrphans(m.Start(m.place.t, helpers)) }

// orphanLooks is how often in a row an empty lock must look the same, at a look every 50 ms, to
// be taken for an orphan. Looks are counted rather than time, because a pause of the machine
// stops all processes alike.
const orphanLooks = 60

// reapOrphans does what an operator's cron job does, until the contest is over: it removes an
// empty lock of plain style that nobody has touched for long.
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

// emptied returns the time since which the lock is empty, or zero if it is not.
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
