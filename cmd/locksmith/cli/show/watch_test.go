package show

import (
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
)

// TestChanges: times always change, so a changed time is no news.
func TestChanges(t *testing.T) {
	var out strings.Builder
	c := &changes{out: &out, write: writeBlock}
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	show := func(s Lock) (news bool) {
		before := out.Len()
		if err := c.Show([]Lock{s}, at); err != nil {
			t.Fatal(err)
		}
		return out.Len() > before
	}
	status := func(age time.Duration, id string) Lock {
		s := NewLock("fake:/x", nil)
		s.Take(backend.Report{Holders: []backend.Holder{{ID: id, PID: 1, Age: age, Heartbeat: age / 2}}})
		return s
	}
	failed := func(text string) Lock {
		s := NewLock("fake:/x", nil)
		s.Error = text
		return s
	}
	for i, c := range []struct {
		status Lock
		news   bool
	}{
		{status(time.Second, "a"), true},
		{status(time.Minute, "a"), false},
		{status(time.Minute, "b"), true},
		{failed("fake:/x: read tcp 127.0.0.1:4001: no answer within 1.5s"), true},
		{failed("fake:/x: read tcp 127.0.0.1:52001: no answer within 998ms"), false},
		{failed("fake:/x: permission denied"), true},
		{NewLock("fake:/x", nil), true},
	} {
		if got := show(c.status); got != c.news {
			t.Errorf("look %d counts as news: %v", i, got)
		}
	}
	if blocks := strings.Split(out.String(), "\n\n"); len(blocks) != 5 || blocks[0] != "2026-07-01 12:00:00\nfake:/x: held by somebody unknown (pid 1) for 1s []" {
		t.Errorf("what was written is %q", out.String())
	}
}
