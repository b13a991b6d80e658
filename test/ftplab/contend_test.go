package ftplab

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab/holds"
)

// contenders: eight processes at a time take the lock, and some are killed with
// -9 at random moments. Nobody meets anybody, and what the killed leave, those
// who come later clear up, or reap.
func contenders(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		m := contention{place: start(t, kind, style, ftpserver.Options{}), history: newHistory(t)}
		easy := true
		for m.rounds = 50; easy && m.rounds <= 250; m.rounds += 50 { // who meets whom is chance
			m.run(8)
			s := m.history.check(t, style)
			t.Logf("%d holders, %d pairs together, %d kills, %d orphans reaped", len(s.held), holds.Together(s.held), len(s.kills), m.orphans)
			easy = len(s.kills) == 0 || style == "dir" && holds.Together(s.held) == 0
		}
		if easy {
			t.Error("it was too easy")
		}
		m.place.clean()
	})
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
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	var wg sync.WaitGroup
	for range helpers {
		wg.Go(func() {
			for m.done.Load() < m.rounds && ctx.Err() == nil {
				m.round(ctx)
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	m.reapOrphans(over)
	if ctx.Err() != nil {
		m.place.t.Errorf("%d rounds of %d; there is %q", m.done.Load(), m.rounds, m.place.all())
	}
}

// round takes the lock once, unless it is killed.
func (m *contention) round(ctx context.Context) {
	t, mode := m.place.t, "exclusive"
	args := []string{"run", "--lease", "10s"}
	if m.place.style == "dir" && rand.IntN(2) == 0 {
		mode, args = "shared", append(args, "--shared")
	}
	work := time.Duration(rand.IntN(10)) * time.Millisecond
	cmd := m.place.locksmith(ctx, append(args, m.place.address(), "--", built.Path(t, "witness"), m.history.file, mode, work.String())...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	killer := m.sendKiller(cmd.Process)
	err := cmd.Wait()
	switch killed := killer(); {
	case err == nil:
		m.done.Add(1)
	case strings.Contains(stderr.String(), "too slow for the lease"): // this machine is
	case !killed && ctx.Err() == nil:
		t.Errorf("%s: %v\n%s", mode, err, &stderr)
	}
}

// sendKiller kills one in four helpers, most of them while they are busy with the
// server. The function that it returns is called when the helper has ended.
func (m *contention) sendKiller(helper *os.Process) (ended func() bool) {
	if rand.IntN(4) > 0 {
		return func() bool { return false }
	}
	limit := []time.Duration{60 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second}[rand.IntN(3)]
	var mu sync.Mutex
	killed, over := false, false
	timer := time.AfterFunc(rand.N(limit), func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			m.history.killed(m.place.t, helper.Pid)
			killed = helper.Signal(syscall.SIGKILL) == nil
		}
	})
	return func() bool {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		return killed
	}
}

// reapOrphans does what an operator's cron job does, until all is over: it removes
// an empty lock of plain style that nobody has touched for long.
func (m *contention) reapOrphans(over <-chan struct{}) {
	if m.place.style == "dir" {
		<-over
		return
	}
	for {
		before := m.emptied()
		select {
		case <-over:
			return
		case <-time.After(1500 * time.Millisecond):
		}
		if !before.IsZero() && before.Equal(m.emptied()) {
			m.orphans++
			m.place.aged("L")
			m.place.must("reap", "--max-age", "10m", "--name", "L", "--yes", m.place.directory())
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
