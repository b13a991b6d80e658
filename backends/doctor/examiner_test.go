package doctor

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
)

// forgetful is a place that says of the first few directories that they are gone.
type forgetful struct{ first int }

func (p *forgetful) Make(_ context.Context, name string) error {
	if strings.Contains(name, "/") && p.first > 0 {
		p.first--
		return fs.ErrNotExist
	}
	return nil
}

func (*forgetful) Remove(context.Context, string) error           { return nil }
func (*forgetful) List(context.Context, string) ([]string, error) { return nil, nil }

// TestNew: a name that counts as gone is made once more, under another name.
func TestNew(t *testing.T) {
	for first, want := range map[int]string{0: "d0", 1: "d1", 2: "d2", 3: ""} {
		x := &Examiner{Place: &forgetful{first}, Prefix: "d", Fail: func(_ string, err error) error { return err }}
		name, err := x.New(t.Context(), "in")
		if (err == nil) != (want != "") || err == nil && name != want || !slices.Contains(x.Made, name) {
			t.Errorf("with %d names that count as gone New makes %q, %v", first, name, err)
		}
	}
}

// TestHeartbeatTellsHowLong: a finding tells how long the time was really watched, calls included.
// What is judged is how long the pauses were, because slow calls do not make a place's times coarse.
func TestHeartbeatTellsHowLong(t *testing.T) {
	for about, c := range map[string]struct {
		takes  time.Duration // each Touch
		moves  int           // at which Touch the time changes; 0: never
		paused time.Duration
	}{
		"never":             {0, 0, 5115 * time.Millisecond},
		"never, and slowly": {200 * time.Millisecond, 0, 5115 * time.Millisecond},
		"at once":           {0, 1, 5 * time.Millisecond},
		"at once, slowly":   {time.Minute, 1, 5 * time.Millisecond},
		"later":             {0, 3, 35 * time.Millisecond},
	} {
		t.Run(about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				touches, still := 0, time.Duration(0)
				found := backend.Fit
				x := &Examiner{Thing: "file", Tell: func(c backend.Check) { found = c.Finding }}
				begun := time.Now()
				paused, seen, err := x.Heartbeat(t.Context(), Heartbeat{
					Touch: func() error {
						touches++
						time.Sleep(c.takes)
						return nil
					},
					Moved: func() (bool, error) { return touches == c.moves, nil },
					Still: func(watched time.Duration) string {
						still = watched
						return ""
					},
				})
				if err != nil || seen != (c.moves > 0) || paused != c.paused || (found == backend.Unfit) == seen {
					t.Errorf("Heartbeat returns %v, %v and the error %v, and finds %v; want pauses of %v, and a finding if the time never changes", paused, seen, err, found, c.paused)
				}
				if took := time.Since(begun); !seen && (still-took).Abs() > 50*time.Millisecond {
					t.Errorf("the time was watched for %v, and the finding says %v", took, still)
				}
			})
		})
	}
}
