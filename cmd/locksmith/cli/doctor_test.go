package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/protocol"
)

// An examined place has one answer for everybody.
type examined struct {
	backend.Backend
	examine func(ctx context.Context, tell backend.Tell) error
}

func (p examined) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	return p.examine(ctx, tell)
}

// TestExamineDetached: doctor leaves alone, in the end, a place that does not answer, but not a
// slow one.
func TestExamineDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := make(chan struct{})
		defer close(hanging)
		told := 0
		examine := func(b backend.Backend, e backend.Examination) error {
			t.Helper()
			over := make(chan error, 1)
			go func() { over <- examineDetached(t.Context(), b, "p", e, func(backend.Check) { told++ }) }()
			select {
			case err := <-over:
				return err
			case <-time.After(time.Hour): // the bubble's time, when all else waits
				t.Fatalf("after an hour it still waits for the examination: the timer in follow (hanging.go) should have ended that %v after the last check", checkTime+e.Idle)
				return nil
			}
		}
		slow := examined{examine: func(_ context.Context, tell backend.Tell) error {
			for range 5 {
				time.Sleep(checkTime + 5*time.Second)
				tell.Fit("x", "y")
			}
			return errors.New("the end")
		}}
		if err := examine(slow, backend.Examination{Idle: 10 * time.Second}); err == nil || err.Error() != "the end" || told != 5 {
			t.Errorf("slow, but within the time for each check: ended with %v after %d checks, want %q after 5: follow (hanging.go) should begin its timer anew at each", err, told, "the end")
		}
		dead := examined{examine: func(context.Context, backend.Tell) error {
			<-hanging
			return nil
		}}
		if err := examine(dead, backend.Examination{}); codeOf(err) != protocol.Unreachable {
			t.Errorf("a place that does not answer: ended with %v, want code %s", err, protocol.Unreachable)
		}
	})
}

func TestVerdicts(t *testing.T) {
	fit, weak, unfit := backend.Check{Name: "a", Finding: backend.Fit}, backend.Check{Name: "b", Finding: backend.Weak}, backend.Check{Name: "c", Finding: backend.Unfit}
	unknown := backend.Check{Name: "d", Finding: backend.Unknown}
	failure := &backend.Error{Code: protocol.Unreachable, Err: errors.New("gone")}
	for _, c := range []struct {
		checks   []backend.Check
		err      error
		status   int
		sentence string
	}{
		{[]backend.Check{fit}, nil, 0, "fit for locks"},
		{[]backend.Check{fit, unknown}, nil, 0, "fit for locks; not known: d"},
		{[]backend.Check{fit, weak, unknown}, nil, 0, "fit for locks, but with weak points: see b; not known: d"},
		{[]backend.Check{unfit, weak}, nil, 73, "not fit for locks: see c"},
		{[]backend.Check{unfit, unfit}, failure, 73, "not fit for locks: see c, c"},
		{[]backend.Check{fit, weak}, failure, 69, "it could not be found out whether it is fit for locks"},
		{nil, nil, 0, "it could not be found out whether it is fit for locks"},
	} {
		var a app
		var people strings.Builder
		e := show.NewExamined("p", &people)
		for _, k := range c.checks {
			e.Tell(k)
		}
		a.conclude(e, c.err)
		if a.status != c.status || !strings.HasSuffix(people.String(), "\np: "+c.sentence+"\n") && people.String() != "p: "+c.sentence+"\n" {
			t.Errorf("doctor with the findings %v and the error %v ends with status %d, and people read %q; want status %d and the last line \"p: %s\"", c.checks, c.err, a.status, people.String(), c.status, c.sentence)
		}
	}
}

// TestProgress: people are told of a long check every few seconds, and of a short one not at
// all.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told strings.Builder
		tell := progress(&told)
		for i := range 13 {
			tell(fmt.Sprintf("round %d", i))
			time.Sleep(time.Second)
		}
		if told.String() != "locksmith: round 5\nlocksmith: round 10\n" {
			t.Errorf("people were told %q", told.String())
		}
	})
}
