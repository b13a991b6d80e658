//go:build unix

package link

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// TestDeadByProof: a holder that is proven dead is broken at once, whatever the respite by age.
func TestDeadByProof(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	r := backendtest.Request()
	r.Clock, r.Strict = &handClock{}, true
	mustRelease(t, mustHold(t, attemptOn(t, lockOn(s), r)))
	mustBeClean(t, s)
}

// waiting returns a waiter, and a function that moves its clock and the server's together.
func waiting(t *testing.T, s *server, change func(*backend.Request)) (*attempt, func(time.Duration)) {
	r := backendtest.Request()
	c := &handClock{now: time.Hour}
	r.Clock, r.Owner.Lease = c, UsualLease
	if change != nil {
		change(&r)
	}
	return attemptOn(t, lockOn(s), r), func(d time.Duration) { elapse(s, c, d) }
}

// TestByAge: once a file is old by the server's clock, it is watched for the respite.
func TestByAge(t *testing.T) {
	for _, c := range []struct {
		name    string
		respite time.Duration // asked for
		watch   time.Duration
	}{
		{"usual respite", 0, usualRespite},
		{"short respite", time.Second, minWatch},
		{"own respite", time.Minute, time.Minute},
	} {
		for _, foreign := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, foreign), func(t *testing.T) {
				s := newServer()
				if foreign {
					s.put("L", "1\n")
				} else {
					mustHold(t, attemptOn(t, lockOn(s), elsewhere(UsualLease)))
				}
				s.pass(UsualLease + time.Second)
				a, wait := waiting(t, s, func(r *backend.Request) { r.Grace = c.respite })
				mustBeHeld(t, a)
				wait(c.watch - time.Second)
				mustBeHeld(t, a)
				wait(time.Second)
				mustRelease(t, mustHold(t, a))
				mustBeClean(t, s)
			})
		}
	}
}

// TestSlowPace: a holder that refreshes its file seldom is watched for longer.
func TestSlowPace(t *testing.T) {
	const refresh = 10 * time.Minute
	s := newServer()
	slow := elsewhere(UsualLease)
	slow.Owner.Refresh = refresh
	mustHold(t, attemptOn(t, lockOn(s), slow))
	s.pass(UsualLease + time.Second)
	a, wait := waiting(t, s, func(r *backend.Request) { r.Grace = time.Second })
	mustBeHeld(t, a)
	wait(4*refresh - time.Second)
	mustBeHeld(t, a)
	wait(time.Second)
	mustHold(t, a)
}

// TestYoung: a file that is young by the server's clock is young, whatever our own clock says.
func TestYoung(t *testing.T) {
	s := newServer()
	s.put("L", "1\n")
	s.pass(UsualLease - time.Second)
	a, wait := waiting(t, s, nil)
	mustBeHeld(t, a)
	if a.seen.Due > 2*time.Second {
		t.Errorf("a waiter looks again in %v, want in 2 s at most", a.seen.Due)
	}
	wait(2 * time.Second)
	mustBeHeld(t, a) // now the file is old, and the watch begins
	wait(usualRespite - time.Second)
	mustBeHeld(t, a)
	wait(time.Second)
	mustHold(t, a)
}

// TestSignOfLife: a sign of life starts the watch again.
func TestSignOfLife(t *testing.T) {
	s := newServer()
	n := s.put("L", "1\n")
	s.pass(2 * UsualLease)
	a, wait := waiting(t, s, nil)
	mustBeHeld(t, a)
	wait(usualRespite - time.Second)
	n.modified = n.modified.Add(time.Second) // the file is still old, but has changed
	mustBeHeld(t, a)
	wait(usualRespite - time.Second)
	mustBeHeld(t, a)
	n.modified = s.now
	wait(time.Second)
	mustBeHeld(t, a)
	wait(usualRespite)
	mustBeHeld(t, a)
}

// TestClassicRule: the server's clock stands still, ours does not.
func TestClassicRule(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), elsewhere(UsualLease)))
	c := &handClock{}
	a, _ := waiting(t, s, func(r *backend.Request) { r.Clock = c })
	mustBeHeld(t, a)
	c.now += UsualLease
	mustBeHeld(t, a)
	c.now += UsualLease / 100
	mustRelease(t, mustHold(t, a))
	mustBeClean(t, s)
}

// TestAhead: a file whose time is in the future is not old until a lease after that time.
func TestAhead(t *testing.T) {
	s := newServer()
	n := s.put("L", "/x/y|host|17|99")
	n.modified = s.now.Add(time.Hour)
	a, wait := waiting(t, s, func(r *backend.Request) { r.Owner.Lease = 10 * time.Hour })
	for range 10 {
		mustBeHeld(t, a)
		wait(time.Hour)
	}
	mustBeHeld(t, a)
}

// TestAheadTouches: with touch=ahead the file's time is always a lease ahead.
func TestAheadTouches(t *testing.T) {
	s := newServer()
	l := lockOn(s)
	l.Ahead = true
	r := backendtest.Request()
	h := mustHold(t, attemptOn(t, l, r))
	for range 3 {
		if got := s.names["L"].modified.Sub(s.now); got != r.Owner.Lease {
			t.Errorf("the file's time is %v ahead, want a lease", got)
		}
		s.pass(time.Minute)
		mustWork(t, h.Heartbeat(t.Context()))
	}
	mustRelease(t, h)
}

// TestStrict: a strict waiter never breaks by age, nor by lease.
func TestStrict(t *testing.T) {
	s := newServer()
	s.put("L", "1\n")
	a, wait := waiting(t, s, func(r *backend.Request) { r.Strict = true })
	for range 20 {
		mustBeHeld(t, a)
		wait(UsualLease)
	}
}

// TestPIDs: a pid without a record counts only where one machine uses the lock.
func TestPIDs(t *testing.T) {
	dead := fmt.Sprint(backendtest.DeadProcess(t).PID)
	for _, c := range []struct {
		content    string
		oneMachine bool
		want       owner.Verdict
	}{
		{dead, false, owner.Unknown},
		{dead + "\n", true, owner.Dead},
		{dead + "\x00", true, owner.Dead},
		{fmt.Sprint(os.Getpid()), true, owner.Alive},
		{"0", true, owner.Unknown},
		{"", true, owner.Unknown},
		{dead + " host\n", true, owner.Unknown},
	} {
		s := newServer()
		s.put("L", c.content)
		l := lockOn(s)
		l.OneMachine = c.oneMachine
		a := attemptOn(t, l, backendtest.Request())
		if c.want == owner.Dead {
			mustRelease(t, mustHold(t, a))
			mustBeClean(t, s)
			continue
		}
		if held := mustBeHeld(t, a); held.Holder.Verdict != c.want {
			t.Errorf("the holder of %q is %s, want %s", c.content, held.Holder.Verdict, c.want)
		}
	}
}

// TestLivingPIDStays: where a pid counts, a lock with a living pid stays, however old it is.
func TestLivingPIDStays(t *testing.T) {
	s := newServer()
	s.put("L", fmt.Sprint(os.Getpid()))
	a, wait := waiting(t, s, nil)
	a.lock.OneMachine = true
	for range 10 {
		mustBeHeld(t, a)
		wait(UsualLease)
	}
}

// TestDeadBreakers: the next breaker takes the place of breakers that died.
func TestDeadBreakers(t *testing.T) {
	s := newServer()
	dead := deadRequest(t)
	h := mustHold(t, attemptOn(t, lockOn(s), dead))
	for n := 1; n <= 3; n++ {
		leaveChain(t, s, dead, h.ID(), n)
	}
	mustRelease(t, mustHold(t, attemptOn(t, lockOn(s), backendtest.Request())))
	mustBeClean(t, s)
}

// TestLivingBreaker: a living breaker keeps the right to remove the lock, however long it is
// stopped. Meanwhile nobody removes the entries on which that right rests.
func TestLivingBreaker(t *testing.T) {
	s := newServer()
	dead := deadRequest(t)
	h := mustHold(t, attemptOn(t, lockOn(s), dead))
	leaveChain(t, s, dead, h.ID(), 1)
	leaveChain(t, s, backendtest.Request(), h.ID(), 2)
	a, wait := waiting(t, s, nil)
	for range 5 {
		held := mustBeHeld(t, a)
		if !strings.Contains(held.Holder.Note, "about to remove it") {
			t.Errorf("the lock is held by %v, want a note of the living breaker", held.Holder)
		}
		wait(UsualLease)
	}
	for n := 1; n <= 2; n++ {
		if s.names[lockOn(s).entryName(h.ID(), n)] == nil {
			t.Errorf("the queue entry %d of a living breaker is gone", n)
		}
	}
}

// TestTwoBreakers: 1. A finds D dead. 2. B does, breaks D, and acquires. 3. A goes on.
func TestTwoBreakers(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	a := attemptOn(t, lockOn(s), backendtest.Request())
	var h backend.Hold
	s.fault = func(c faulty.Call) error {
		if c.Op == "link" && strings.Contains(c.Name, entryMark) && h == nil {
			s.fault = nil
			h = mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
		}
		return c.Do()
	}
	held := mustBeHeld(t, a)
	if held.Holder.Record == nil || held.Holder.Record.ID != h.ID() {
		t.Errorf("the lock is held by %v, want the quicker breaker", held.Holder)
	}
	mustWork(t, h.Heartbeat(t.Context()))
	mustWithdraw(t, a)
	mustRelease(t, h)
	mustBeClean(t, s)
}

// TestPausedBreaker: 1. A wins the right to remove D's lock, and has looked again.
// 2. B comes, and must wait. 3. A removes the lock.
func TestPausedBreaker(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	a := attemptOn(t, lockOn(s), backendtest.Request())
	b := attemptOn(t, lockOn(s), backendtest.Request())
	came := false
	s.fault = func(c faulty.Call) error {
		if c.Op == "unlink" && c.Name == "L" && !came {
			came = true
			mustBeHeld(t, b)
		}
		return c.Do()
	}
	h := mustHold(t, a)
	mustBeHeld(t, b)
	mustRelease(t, h)
	mustRelease(t, mustHold(t, b))
	mustBeClean(t, s)
}

// TestRevived: 1. A takes D for dead by age. 2. D gives a sign of life. 3. A looks
// again.
func TestRevived(t *testing.T) {
	s := newServer()
	h := mustHold(t, attemptOn(t, lockOn(s), elsewhere(UsualLease)))
	s.pass(2 * UsualLease)
	a, wait := waiting(t, s, nil)
	mustBeHeld(t, a)
	wait(usualRespite)
	s.fault = func(c faulty.Call) error {
		if c.Op == "link" && strings.Contains(c.Name, entryMark) {
			s.fault = nil
			mustWork(t, h.Heartbeat(t.Context()))
		}
		return c.Do()
	}
	mustBeHeld(t, a)
	mustWithdraw(t, a)
	mustRelease(t, h)
	mustBeClean(t, s)
}

// TestSticky: only its owner may remove a dead holder's lock.
func TestSticky(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	s.names["L"].locked = true
	a := attemptOn(t, lockOn(s), backendtest.Request())
	for range 3 {
		held := mustBeHeld(t, a)
		if !strings.Contains(held.Holder.Note, "only its owner") {
			t.Errorf("the lock is held by %v, want a note that only its owner may remove it", held.Holder)
		}
	}
	mustWithdraw(t, a)
	if left := s.list(); len(left) != 1 {
		t.Errorf("beside a lock that may not be removed there is %q", left)
	}
}

// TestGivingUp: a breaker that may not remove the lock leaves the entries of the breakers that
// died before it, because others have counted them.
func TestGivingUp(t *testing.T) {
	s := newServer()
	dead := deadRequest(t)
	h := mustHold(t, attemptOn(t, lockOn(s), dead))
	leaveChain(t, s, dead, h.ID(), 1)
	s.names["L"].locked = true
	a := attemptOn(t, lockOn(s), backendtest.Request())
	mustBeHeld(t, a)
	mustWithdraw(t, a)
	l := lockOn(s)
	if s.names[l.entryName(h.ID(), 1)] == nil || s.names[l.entryName(h.ID(), 2)] != nil {
		t.Errorf("a breaker that gave up leaves %q, want entry 1 and not its own entry 2", s.list())
	}
	s.names["L"].locked = false
	mustRelease(t, mustHold(t, attemptOn(t, l, backendtest.Request())))
	mustBeClean(t, s)
}

// TestManyDeadBreakers: too many dead breakers end in an error that says what to do.
func TestManyDeadBreakers(t *testing.T) {
	s := newServer()
	dead := deadRequest(t)
	h := mustHold(t, attemptOn(t, lockOn(s), dead))
	for n := 1; n <= maxEntries; n++ {
		leaveChain(t, s, dead, h.ID(), n)
	}
	_, err := attemptOn(t, lockOn(s), backendtest.Request()).Try(t.Context())
	mustFail(t, err, protocol.CannotCreate, "L.brk.*")
}

// TestBreakForeign: a foreign lock is broken by the id that Read tells.
func TestBreakForeign(t *testing.T) {
	s := newServer()
	s.put("L", "4711\n")
	l := lockOn(s)
	r, err := l.Read(t.Context())
	mustWork(t, err)
	if len(r.Holders) != 1 || r.Holders[0].PID != 4711 {
		t.Fatalf("Read sees %+v, want the holder with pid 4711", r)
	}
	_, id, _ := strings.Cut(r.Holders[0].Note, "locksmith break is ")
	s.names["L"].modified = s.now.Add(time.Second)
	if err := backendtest.BreakID(t.Context(), l, id); !errors.Is(err, backend.ErrGone) {
		t.Errorf("another file was broken: %v", err)
	}
	mustWork(t, backendtest.BreakID(t.Context(), l, foreignID(fakeFS{server: s}.stat(s.names["L"], "L"))))
	mustBeClean(t, s)
}

// TestBreakWaiter: to break a waiter removes only its claim. The waiter goes on with a new one.
func TestBreakWaiter(t *testing.T) {
	s := newServer()
	l := lockOn(s)
	h := mustHold(t, attemptOn(t, l, backendtest.Request()))
	a := attemptOn(t, l, backendtest.Request())
	mustBeHeld(t, a)
	r, err := l.Read(t.Context())
	mustWork(t, err)
	if len(r.Holders) != 1 || len(r.Waiters) != 1 || r.Waiters[0].Record.ID != a.mine.record.ID {
		t.Fatalf("Read sees %+v, want one holder, and the waiter", r)
	}
	mustWork(t, backendtest.BreakID(t.Context(), l, r.Waiters[0].Record.ID))
	for _, id := range []string{r.Waiters[0].Record.ID, "../x", "", "L"} {
		if err := backendtest.BreakID(t.Context(), l, id); !errors.Is(err, backend.ErrGone) {
			t.Errorf("break of the id %q, which nobody has: %v", id, err)
		}
	}
	mustBeHeld(t, a)
	mustRelease(t, h)
	mustRelease(t, mustHold(t, a))
	mustBeClean(t, s)
}
