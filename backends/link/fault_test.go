//go:build unix

package link

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// faults are the wrong answers that a server may give to a call. If the call was executed, a
// repeated request may find its own work. A call that failed may have been executed.
func faults() (all []faulty.Fault) {
	add := func(f faulty.Fault, op string, errs ...error) {
		if op != "" {
			f.Every, f.Spares = true, func(c faulty.Call) bool { return c.Op != op }
		}
		for _, f.Err = range errs {
			all = append(all, f)
		}
	}
	executed := faulty.Fault{Done: true, Code: protocol.Unreachable}
	for _, f := range []faulty.Fault{{Code: protocol.Unreachable}, executed} {
		add(f, "", unix.EIO, unix.ETIMEDOUT, unix.ESTALE, unix.EINTR)
	}
	for _, f := range []faulty.Fault{{Code: protocol.CannotCreate}, {Code: protocol.CannotCreate, Done: true}} {
		add(f, "create", unix.EEXIST, unix.ENOSPC, unix.EDQUOT)
	}
	add(executed, "link", unix.EEXIST, unix.ENOENT)
	add(executed, "unlink", unix.ENOENT)
	return all
}

// TestFaults lets each call of a life fail in each possible way.
func TestFaults(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		t.Run(fmt.Sprint("ahead: ", ahead), func(t *testing.T) {
			faulty.Run(t, []string{"exclusive"}, faults(), func(t *testing.T) faulty.Place {
				s := newServer()
				lock := func(h backendtest.Host, hook faulty.Hook) faulty.Lock {
					breaker := h.Request("exclusive").Owner
					breaker.Helper.PID = 7                                              // which has ended by the time that anybody looks
					polls := backoff.Range{Min: 5 * time.Second, Max: 10 * time.Second} // which keeps the number of calls small
					return &Lock{NewFS: func() FS { return fakeFS{s, hook} }, Name: "L", Address: "link:/L", Ahead: ahead,
						Polls: backoff.Config{Poll: polls, Quick: 1, Slow: polls},
						Self:  func() owner.Record { return breaker }, Env: owner.Env{NewID: owner.NewID, Judge: h.Judge, Today: time.Now}}
				}
				return faulty.Place{
					Lock: lock,
					Dies: func(h backend.Hold) {
						if ahead { // a breaker died with the holder
							r := backendtest.NewHost("here").Request("exclusive")
							r.Owner.Helper.PID = 7
							leaveChain(t, s, r, h.ID(), 1)
						}
					},
					Left:    s.list,
					Unclear: backend.Unclear,
				}
			})
		})
	}
}

// leaveChain leaves what a breaker that dies leaves.
func leaveChain(t *testing.T, s *server, r backend.Request, dead string, n int) {
	t.Helper()
	l := lockOn(s)
	c, err := l.newClaim(fakeFS{server: s}, r.Owner)
	mustWork(t, err, c.make())
	won, err := c.linkTo(l.entryName(dead, n))
	mustWork(t, err)
	if !won {
		t.Fatalf("the queue entry %d was taken already", n)
	}
}

func mustKeepOut(t *testing.T, s *server) {
	t.Helper()
	other := attemptOn(t, lockOn(s), backendtest.Request())
	mustBeHeld(t, other)
	mustWithdraw(t, other)
}

// TestLateLink: the server executes a request to link a claim a second time, when nobody expects
// it.
func TestLateLink(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(t *testing.T, s *server, a *attempt)
	}{
		{"waiting on", func(t *testing.T, s *server, a *attempt) {
			mustRelease(t, mustHold(t, a))
		}},
		{"withdrawn", func(t *testing.T, s *server, a *attempt) {
			mustWithdraw(t, a)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer()
			h := mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
			a := attemptOn(t, lockOn(s), backendtest.Request())
			mustBeHeld(t, a)
			mustRelease(t, h)
			mustWork(t, fakeFS{server: s}.Link(a.mine.name, "L")) // late
			c.then(t, s, a)
			mustBeClean(t, s)
		})
	}
}

// TestClaimRemovedUnderUs: somebody takes our claim for a leftover and removes it.
func TestClaimRemovedUnderUs(t *testing.T) {
	for _, when := range []string{"stat", "link"} {
		s := newServer()
		a := attemptOn(t, lockOn(s), backendtest.Request())
		once := true
		s.fault = func(c faulty.Call) error {
			if once && c.Op == when && (c.Op == "link" || c.Name != "L") {
				once = false
				delete(s.names, a.mine.name)
			}
			return c.Do()
		}
		h := mustHold(t, a)
		mustKeepOut(t, s)
		mustRelease(t, h)
		mustBeClean(t, s)
	}
}

// TestClaimAlwaysRemoved: somebody removes our claim each time that we make one.
func TestClaimAlwaysRemoved(t *testing.T) {
	s := newServer()
	a := attemptOn(t, lockOn(s), backendtest.Request())
	s.fault = func(c faulty.Call) error {
		if c.Op == "link" {
			delete(s.names, a.mine.name)
		}
		return c.Do()
	}
	_, err := a.Try(t.Context())
	if err == nil || backend.CodeOf(err) == protocol.Held {
		t.Errorf("without ever a claim Try returns %v, want an error, and not held", err)
	}
	mustWithdraw(t, a)
	mustBeClean(t, s)
}

// TestSweptNumberUsedAgain: somebody removes our claim as left over. Its inode number is used
// again, for the claim of the process that has the lock.
func TestSweptNumberUsedAgain(t *testing.T) {
	s := newServer()
	l := lockOn(s)
	a := attemptOn(t, l, backendtest.Request())
	var rival *claim
	s.fault = func(c faulty.Call) error {
		if c.Op != "link" || rival != nil {
			return c.Do()
		}
		var err error
		rival, err = l.newClaim(fakeFS{server: s}, backendtest.Request().Owner)
		mustWork(t, err)
		n := s.put(l.Name, rival.text)
		n.number = s.names[a.mine.name].number
		delete(s.names, a.mine.name)
		return c.Do()
	}
	held := mustBeHeld(t, a)
	if held.Holder.Record == nil || held.Holder.Record.ID != rival.record.ID {
		t.Errorf("the lock is held by %v, want the rival", held.Holder)
	}
}

func TestLies(t *testing.T) {
	for _, c := range []struct {
		says string
		set  func(*server)
	}{
		{"counts one link", func(s *server) { s.oneLink = true }},
		{"another number", func(s *server) { s.nameNumbers = true }},
	} {
		s := newServer()
		c.set(s)
		mustFail(t, tryLock(lockOn(s)), protocol.CannotCreate, c.says)
		mustFail(t, tryLock(lockOn(s)), protocol.CannotCreate, "locksmith doctor")
		mustBeClean(t, s)
	}
}

func TestNoHardLinks(t *testing.T) {
	for errno, says := range map[unix.Errno]string{
		unix.EPERM: "no hard links", unix.EOPNOTSUPP: "use mkdir: or local:", unix.ENOSYS: "use mkdir: or local:",
		unix.EMLINK: "use mkdir: or local:", unix.EXDEV: "several file systems", unix.ENOSPC: "free some space",
	} {
		s := newServer()
		s.noLinks = errno
		err := tryLock(lockOn(s))
		mustFail(t, err, protocol.CannotCreate, says)
		if !errors.Is(err, errno) {
			t.Errorf("the cause %v is lost in the error %v", errno, err)
		}
		mustBeClean(t, s)
	}
}

// TestServerAway: while the server is away, a waiter goes on waiting, and a newcomer is told of
// it.
func TestServerAway(t *testing.T) {
	s := newServer()
	h := mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
	a := attemptOn(t, lockOn(s), backendtest.Request())
	mustBeHeld(t, a)
	s.fault = func(c faulty.Call) error { return unix.EIO }
	if held := mustBeHeld(t, a); held.Obstacle == nil {
		t.Error("nobody knows who holds it")
	}
	mustFail(t, h.Heartbeat(t.Context()), protocol.Unreachable, "look at the server")
	_, err := attemptOn(t, lockOn(s), backendtest.Request()).Try(t.Context())
	mustFail(t, err, protocol.Unreachable, "look at the server")
	s.fault = nil
	mustWork(t, h.Heartbeat(t.Context()))
	mustRelease(t, h)
	mustRelease(t, mustHold(t, a))
	mustBeClean(t, s)
}

// TestTakenAwayAtOnce: 1. We link the lock. 2. We see that it is ours. 3. Somebody
// removes it. 4. We count its names. That is no lie of the file system.
func TestTakenAwayAtOnce(t *testing.T) {
	for _, successor := range []bool{false, true} {
		s := newServer()
		a := attemptOn(t, lockOn(s), backendtest.Request())
		seen := false
		s.fault = func(c faulty.Call) error {
			seen = seen || c.Op == "stat" && c.Name == "L"
			if seen && c.Name == a.mine.name {
				s.fault = nil
				s.names["L"].links--
				delete(s.names, "L")
				if successor {
					s.put("L", "17\n")
				}
			}
			return c.Do()
		}
		if successor {
			mustBeHeld(t, a)
			continue
		}
		mustRelease(t, mustHold(t, a))
		mustBeClean(t, s)
	}
}
