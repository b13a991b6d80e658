package s3lab

import (
	"slices"
	"strings"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab"
)

func fitForLocks(t *testing.T, name string) {
	examine(t, name, 0, ": fit for locks\n", "in each of 200 rounds one of 32 succeeded")
}

// reasons are why locks are not safe there; where several are, each may be the first.
var reasons = map[string][]string{
	"versitygw-1.2.0":  {"several would hold the lock"},
	"versitygw-1.0.14": {"the store ignores the condition"},
	"rclone":           {"the store ignores the condition", "several would hold the lock"},
	"s3rver":           {"the store ignores the condition"},
}

func unfitForLocks(t *testing.T, name string) {
	examine(t, name, protocol.CannotCreate.Exit(), ": not fit for locks", reasons[name]...)
}

// examine has doctor look at a store. It exits and says as expected, for one of some reasons.
func examine(t *testing.T, name string, status int, verdict string, reasons ...string) {
	p := openPlace(t, name)
	got, said := lab.Run(t, locksmith(t, "doctor", p.address()))
	t.Logf("%s", said)
	if got != status || !strings.Contains(said, verdict) || !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(said, r) }) {
		said := p.servers[0].Said()
		t.Errorf("exit status %d; the store says:\n%s", got, said[max(0, len(said)-3000):])
	}
	if left := p.keys(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
