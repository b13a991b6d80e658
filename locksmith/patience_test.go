package locksmith

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// script is a place that answers one try after the other from a list. The last answer repeats.
type script struct {
	*world
	answers []error // nil: the lock is ours
	tries   []time.Duration
	// waitTakes is how long a Wait hangs, whatever its context says.
	waitTakes time.Duration
	waiting   atomic.Bool
	t         *testing.T
}

func (s *script) Attempt(backend.Request) (backend.Attempt, error) { return s, nil }

func (s *script) Try(context.Context) (backend.Hold, error) {
	s.alone()
	s.tries = append(s.tries, s.clock.Now())
	err := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	if err != nil {
		return nil, err
	}
	s.taken++
	return s, nil
}

func (s *script) Wait(context.Context) error {
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	s.clock.Sleep(max(s.waitTakes, time.Millisecond))
	return nil
}

func (s *script) Withdraw(context.Context) error {
	s.alone()
	s.withdrawals++
	return nil
}

// alone fails if it is called while another call is under way.
func (s *script) alone() {
	if s.waiting.Load() {
		s.t.Error("a call beside one that hangs")
	}
}

// What a place may answer.
func away() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: "fake:/x", Op: "connect", Err: errors.New("connection refused"), Hint: "look at it"}
}

func obstructed() error { return &backend.HeldError{Lock: "fake:/x", Obstacle: away()} }

func held() error {
	return &backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 4242, Age: time.Second}}
}

func lasting() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: "fake:/x", Op: "connect", Err: errors.New("no such host"), Lasts: true}
}

func forbidden() error {
	return &backend.Error{Code: protocol.Permission, Lock: "fake:/x", Op: "log in", Err: errors.New("530")}
}

// follow runs a helper for a script, in fake time. A wait without end ends after a day.
func (s *script) follow(t *testing.T, timeout time.Duration, tries int, check func(error, *fakeClient)) {
	synctest.Test(t, func(t *testing.T) {
		s.t = t
		s.world = &world{clock: &jumpingClock{start: clock.Runtime{}.Now()}}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(24*time.Hour, func() { cancel(ErrStdinClosed) })
		g := &fakeClient{ctx: ctx, clock: s.clock}
		h := &Helper{Address: "fake:/x", Locker: s, Client: g, Timeout: timeout, Tries: tries, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: s.clock}}
		hold, _, err := h.acquire(s.clock.Now(), false)
		if (hold == nil) == (err == nil) {
			t.Errorf("acquire returns the hold %v and the error %v, want one of the two", hold, err)
		}
		check(err, g)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if got := s.taken + s.withdrawals; got != 1 {
			t.Errorf("taken %d times, withdrawn %d times", s.taken, s.withdrawals)
		}
	})
}

// TestPatience goes through the table of what is borne and for how long, which is in the guide
// and at type waiting.
func TestPatience(t *testing.T) {
	const long = 10 * time.Minute
	away40, held1 := make([]error, 40), []error{held()}
	for i := range away40 {
		away40[i] = away()
	}
	for name, c := range map[string]struct {
		answers []error
		timeout time.Duration
		tries   int
		code    protocol.Code // "": the lock is ours
		from    time.Duration // when it ends
		to      time.Duration
	}{
		"a timeout, away for good":            {[]error{away()}, long, 0, protocol.Unreachable, long, long},
		"a timeout, obstructed for good":      {[]error{obstructed()}, long, 0, protocol.Unreachable, long, long},
		"a timeout, back after a time":        {append(away40[:40:40], nil), long, 0, "", 2 * time.Minute, 6 * time.Minute},
		"a timeout, held, then away for good": {append(held1[:1:1], away()), long, 0, protocol.Timeout, long, long},
		"no timeout, away for good":           {[]error{away()}, Forever, 0, protocol.Unreachable, lease, lease},
		"no timeout, obstructed for good":     {[]error{obstructed()}, Forever, 0, protocol.Unreachable, lease, lease},
		"no timeout, held, then away":         {append(append(held1[:1:1], away40...), nil), Forever, 0, "", 2 * time.Minute, 6 * time.Minute},
		"no timeout, away, then held":         {append(append(away40[:4:4], held1...), append(away40, nil)...), Forever, 0, "", 2 * time.Minute, 6 * time.Minute},
		"one try, away":                       {[]error{away()}, 0, 0, protocol.Unreachable, 0, 0},
		"one try, obstructed":                 {[]error{obstructed()}, 0, 0, protocol.Unreachable, 0, 0},
		"one try, held":                       {[]error{held()}, 0, 0, protocol.Held, 0, 0},
		"three tries, away":                   {[]error{away()}, Forever, 3, protocol.Unreachable, 300 * time.Millisecond, 700 * time.Millisecond},
		"three tries, held in the last":       {[]error{away(), away(), held()}, Forever, 3, protocol.Timeout, 300 * time.Millisecond, 700 * time.Millisecond},
		"what lasts":                          {[]error{lasting()}, long, 0, protocol.Unreachable, 0, 0},
		"what lasts, in the end":              {append(away40[:4:4], lasting()), long, 0, protocol.Unreachable, time.Second, 3 * time.Second},
		"not allowed":                         {[]error{forbidden()}, long, 0, protocol.Permission, 0, 0},
		"not allowed, in the end":             {append(held1[:1:1], away(), forbidden()), Forever, 0, protocol.Permission, 100 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{answers: c.answers}
			s.follow(t, c.timeout, c.tries, func(err error, g *fakeClient) {
				if at := s.clock.Now(); at < c.from || at > c.to {
					t.Errorf("Run ended after %v, want %v to %v", at, c.from, c.to)
				}
				switch {
				case (err == nil) != (c.code == ""), err != nil && CodeOf(err) != c.code:
					t.Errorf("Run returns %v, want code %q", err, c.code)
				case c.code == protocol.Unreachable && c.timeout != 0 && !strings.Contains(err.Error(), "connection refused") && !strings.Contains(err.Error(), "no such host"):
					t.Errorf("Run returns %v, want that it says why the place did not answer", err)
				case c.timeout == 0 && strings.Contains(err.Error(), "waiting"):
					t.Errorf("Run with one try returns %v, want that it says nothing of waiting", err)
				}
			})
		})
	}
}

// TestTroublePauses: a place that does not answer is asked less and less often, at random times.
// Once it has answered, it is asked often again.
func TestTroublePauses(t *testing.T) {
	s := &script{answers: []error{away()}}
	firsts := map[time.Duration]bool{}
	for range 3 {
		s.tries = nil
		s.follow(t, 5*time.Minute, 0, func(error, *fakeClient) {
			want := firstTrouble
			for i := range len(s.tries) - 1 {
				got := s.tries[i+1] - s.tries[i]
				if got < want/2 || got > want+time.Millisecond {
					t.Errorf("pause %d is %v, want %v at most, and half of it at least", i, got, want)
				}
				want = min(want+want/2, lease/troublePart)
			}
			firsts[s.tries[1]] = true
			if len(s.tries) < 40 {
				t.Errorf("%d tries in five minutes at a place that does not answer, want 40 at least", len(s.tries))
			}
		})
	}
	if len(firsts) < 2 {
		t.Errorf("three waiters have the same first pause %v, want random ones", firsts)
	}
	s = &script{answers: []error{away(), away(), away(), away(), away(), held(), away()}}
	s.follow(t, time.Minute, 0, func(error, *fakeClient) {
		if got := s.tries[7] - s.tries[6]; got > firstTrouble+time.Millisecond {
			t.Errorf("after an answer the first pause is %v, want %v at most", got, firstTrouble)
		}
	})
}

// TestHangingWait: while a Wait hangs, no other call is made. The hanging Wait neither ends a
// limited number of tries earlier, nor delays the end of a timeout.
func TestHangingWait(t *testing.T) {
	for name, c := range map[string]struct {
		takes   time.Duration
		timeout time.Duration
		tries   int
		code    protocol.Code
		at      time.Duration
	}{
		"for longer than a pause":           {20 * time.Second, time.Minute, 3, protocol.Timeout, 40 * time.Second},
		"for longer than a timeout":         {time.Hour, 10 * time.Second, 0, protocol.Timeout, 10*time.Second + answerTime},
		"for longer than both":              {time.Hour, 10 * time.Second, 3, protocol.Timeout, 10*time.Second + answerTime},
		"of who has not had an answer":      {time.Hour, Forever, 3, protocol.Unreachable, lease + answerTime},
		"of who has not, and any tries":     {time.Hour, Forever, 0, protocol.Unreachable, lease + answerTime},
		"of who is to wait for an hour yet": {time.Hour / 2, time.Hour, 2, protocol.Timeout, time.Hour / 2},
	} {
		t.Run(name, func(t *testing.T) {
			answer := held
			if c.timeout == Forever {
				answer = away
			}
			s := &script{answers: []error{answer()}, waitTakes: c.takes}
			s.follow(t, c.timeout, c.tries, func(err error, _ *fakeClient) {
				if at := s.clock.Now(); CodeOf(err) != c.code || at != c.at {
					t.Errorf("%v after %v, want %s after %v", err, at, c.code, c.at)
				}
			})
		})
	}
}
