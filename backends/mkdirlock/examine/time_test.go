package examine

import (
	"testing"
	"time"
)

func TestOffset(t *testing.T) {
	for _, c := range []struct {
		d       time.Duration
		precise bool
		want    string
	}{
		{-900 * time.Millisecond, true, "the server's is like ours, to the second"},
		{-50 * time.Second, false, "the server's is like ours, to the minute"},
		{90 * time.Second, true, "the server's is 1m30s ahead of ours"},
		{-5 * time.Minute, false, "the server's is about 5m0s behind ours"},
		{time.Hour + 2*time.Second, true, "the server's is 2s ahead of ours, in a zone +1 hours from UTC, or off by so much"},
		{-210 * time.Minute, true, "the server's is like ours, to the second, in a zone -3.5 hours from UTC, or off by so much"},
	} {
		if got := offset(c.d, c.precise); got != c.want {
			t.Errorf("a clock that is off by %v is described as %q, want %q", c.d, got, c.want)
		}
	}
}
