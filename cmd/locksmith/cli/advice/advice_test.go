package advice

import (
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
)

// TestExplainSilence: somebody is late, or its lease is over, only when it was silent for longer than
// it may be. A waiter in plain style beats less often than once in its lease.
func TestExplainSilence(t *testing.T) {
	for _, c := range []struct {
		silence, old time.Duration
		usual        bool // nothing needs to be said of one who waits
		says         string
	}{
		{0, 16 * time.Second, true, "it beats: "},
		{0, 17 * time.Second, true, "it is late: "},
		{0, 70 * time.Second, false, "its lease of 1m0s has been over for 10s"},
		{100 * time.Second, 50 * time.Second, true, "it beats every 1m40s: "},
		{100 * time.Second, 70 * time.Second, true, "it beats every 1m40s: "},
		{100 * time.Second, 104 * time.Second, true, "it beats every 1m40s: "},
		{100 * time.Second, 110 * time.Second, false, "its lease of 1m0s has been over for 50s"},
	} {
		p := show.Participant{Holder: backend.Holder{ID: "a", Verdict: owner.Unknown, Lease: time.Minute, Silence: c.silence, Heartbeat: c.old, Sign: "1"}, Waits: true}
		x := Adviser{Waiters: 1, Command: func(...string) string { return "" }}
		if a := x.elsewhere(p, condition.Of(p.Holder), "break it"); !strings.Contains(a.Who, c.says) || (a.Do != "break it") != strings.HasPrefix(c.says, "it beats") {
			t.Errorf("%v old where %v is usual: %q, want %q", c.old, c.silence, a, c.says)
		}
		if x.IsUsual(p) != c.usual {
			t.Errorf("%v old where %v is usual: usual is %v", c.old, c.silence, !c.usual)
		}
	}
}

// TestBreakCommand: the command line that is advised names the lock as the user's did.
func TestBreakCommand(t *testing.T) {
	for want, n := range map[string]request.Named{
		"locksmith break link: --force":                          {},
		"locksmith break --insecure --ca a link: --force":        {Connect: request.Connect{Insecure: true, CA: "a"}},
		"locksmith break --for a --suffix .lck link: --force":    {File: flags.File{Path: "a", Suffix: ".lck"}},
		"locksmith break --for 'a b' --suffix ' ' link: --force": {File: flags.File{Path: "a b", Suffix: " "}},
	} {
		if got := BreakCommand(&n, []string{"link:"}, "--force"); got != want {
			t.Errorf("advised is %s, want %s", got, want)
		}
	}
}
