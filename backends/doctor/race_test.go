package doctor

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"locksmith/backends/backend"
)

var errRefused = errors.New("refused")

// TestRace: the number of winners decides what is found.
func TestRace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		winners     int
		connections bool
		broken      string
		want        backend.Finding
		says        string
	}{
		{1, false, "", backend.Fit, "from this host, at the same time: one of the two in each of 20 rounds"},
		{1, true, "", backend.Fit, "over two connections at the same time"},
		{0, true, "", backend.Weak, "in 20 of 20 rounds both were refused"},
		{0, false, "", backend.Unfit, "in round 1, 0 of two who tried it"},
		{2, false, "", backend.Unfit, "in round 1, 2 of two who tried it"},
		{2, true, "", backend.Unfit, "in round 1 two connections tried it"},
		{1, true, " it is gone", backend.Unfit, "in round 1 it is gone"},
	} {
		var all []backend.Check
		x := &Examiner{Tell: func(c backend.Check) { all = append(all, c) }, Unanswered: func(error) bool { return false }}
		var left atomic.Int32
		err := x.Race(t.Context(), Race{
			Name: "a race", Did: "tried it", Connections: c.connections,
			Start: func() error { left.Store(int32(c.winners)); return nil },
			Call: func(int) error {
				if left.Add(-1) < 0 {
					return errRefused
				}
				return nil
			},
			End: func(int) (string, error) { return c.broken, nil },
		})
		if err != nil || len(all) != 1 || all[0].Finding != c.want || !strings.Contains(all[0].Text, c.says) {
			t.Errorf("a race with %d winners a round, over two connections: %v, broken: %q: it ends with %v, and finds %+v; want one finding, %q, that says %q", c.winners, c.connections, c.broken, err, all, c.want, c.says)
		}
	}
}

// TestRaceUnanswered: a place that does not answer is not called unfit.
func TestRaceUnanswered(t *testing.T) {
	t.Parallel()
	x := &Examiner{
		Tell:       func(c backend.Check) { t.Errorf("a place that does not answer is judged: %+v", c) },
		Unanswered: func(error) bool { return true }, Fail: func(_ string, err error) error { return err },
	}
	err := x.Race(t.Context(), Race{Call: func(side int) error {
		if side == 1 {
			return errRefused
		}
		return nil
	}})
	if !errors.Is(err, errRefused) {
		t.Error(err)
	}
}
