//go:build unix

package s3lab

import (
	"slices"
	"strings"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
)

// contenders: eight processes at a time take the lock, and some are killed with -9 at random
// moments: while they wait for the lock, have it, take it or release it. No two have it together,
// nobody is stuck, and later processes clear up what the killed ones left.
func contenders(t *testing.T, name string) {
	p := openPlace(t, name)
	c := p.contest(t)
	<-c.Start(t, 8)
	p.judge(t, c)
}

// restarts: the same as contenders, while the gateways are killed and started again, by turns.
func restarts(t *testing.T, name string) {
	p := openPlace(t, name)
	c := p.contest(t)
	over := c.Start(t, 8)
	n := 0
	for ; c.More(t, over, 5); n++ {
		s := p.servers[n%len(p.servers)]
		s.Stop()
		s.Restart()
	}
	t.Logf("%d restarts", n)
	p.judge(t, c)
}

// loseAnswers: the same, by way of a proxy that loses, halves and turns answers, or has requests
// executed twice.
func loseAnswers(t *testing.T, name string) {
	p := openPlace(t, name)
	proxy := p.behind(t)
	proxy.FailOften(0.05)
	direct := p
	p.endpoint = proxy.Endpoint
	c := p.contest(t)
	<-c.Start(t, 8)
	direct.judge(t, c)
}

// unreached are the exit statuses of contenders that cannot take or release the lock, because the
// store does not answer in time: this machine may be busy.
var unreached = []int{protocol.Unreachable.Exit(), protocol.Expired.Exit()}

func (p place) contest(t *testing.T) *contest.Contest {
	rounds := int32(24)
	if *long {
		rounds = 1000
	}
	return &contest.Contest{Log: contest.NewLog(t), Command: p.under(t), Rounds: rounds, Excused: unreached}
}

// judge checks the contest's log, and makes sure that the next holder clears up what is left: its
// Tend comes with its first heartbeat.
func (p place) judge(t *testing.T, c *contest.Contest) {
	t.Helper()
	r := c.Log.Check(t, true)
	t.Logf("%d holders, %d kills, left: %q", len(r.Held), len(r.Kills), p.leftovers(t))
	if len(r.Kills) == 0 || holds.Together(r.Held) > 0 {
		t.Error("nobody was killed, or some had it together")
	}
	h := p.hold(t, "--lease", "30s", "--refresh", "1s")
	id := h.Held().Value("id")
	lab.Eventually(t, "what the killed left is gone", func() bool {
		return !slices.ContainsFunc(p.keys(t), func(key string) bool { return !strings.HasPrefix(key, "g.") && !strings.HasSuffix(key, id) })
	}, func() string { return strings.Join(p.keys(t), "\n") })
	h.Release()
	if left := p.leftovers(t); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
