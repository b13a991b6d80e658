//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// possible are the wrong answers that a server may give to a call. If the call was executed, a
// repeated request may find its own work. A call that failed may have been executed.
func possible(call string, done bool) []unix.Errno {
	unclear := []unix.Errno{unix.EIO, unix.ETIMEDOUT, unix.ESTALE, unix.EINTR}
	switch {
	case call == "create" && done:
		return append(unclear, unix.EEXIST, unix.ENOSPC)
	case call == "create":
		return append(unclear, unix.ENOSPC, unix.EDQUOT)
	case call == "link" && done:
		return append(unclear, unix.EEXIST, unix.ENOENT)
	case call == "unlink" && done:
		return append(unclear, unix.ENOENT)
	}
	return unclear
}

// A story is one run of the test, from the making of a server to the look at what is left.
type story struct {
	name string
	// before makes what exists before anything fails.
	before func(*testing.T, *server)
}

var stories = []story{
	{"free", func(*testing.T, *server) {}},
	{"dead holder", func(t *testing.T, s *server) {
		mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	}},
	{"dead breaker", func(t *testing.T, s *server) {
		dead := deadRequest(t)
		h := mustHold(t, attemptOn(t, lockOn(s), dead))
		leaveChain(t, s, dead, h.ID(), 1)
	}},
	{"dead waiter", func(t *testing.T, s *server) {
		h := mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
		mustBeHeld(t, attemptOn(t, lockOn(s), deadRequest(t)))
		mustRelease(t, h)
	}},
}

// leaveChain leaves what a breaker that dies leaves.
func leaveChain(t *testing.T, s *server, r backend.Request, dead string, n int) {
	t.Helper()
	l := lockOn(s)
	c, err := l.newClaim(fakeFS{s}, r.Owner)
	mustWork(t, err, c.make())
	won, err := c.linkTo(l.entryName(dead, n))
	mustWork(t, err)
	if !won {
		t.Fatalf("the queue entry %d was taken already", n)
	}
}

// TestOneFault lets each call of a life fail in each possible way. Whatever happens, the lock can
// be acquired again, others are kept out while it is held, and nothing is left.
func TestOneFault(t *testing.T) {
	for _, st := range stories {
		for _, ahead := range []bool{false, true} {
			t.Run(fmt.Sprint(st.name, ahead), func(t *testing.T) {
				calls := oneLife(t, st, ahead, -1, 0, false)
				for i := range calls {
					call, _, _ := strings.Cut(calls[i], " ")
					for _, done := range []bool{false, true} {
						for _, errno := range possible(call, done) {
							oneLife(t, st, ahead, i, errno, done)
						}
					}
				}
			})
		}
	}
}

// oneLife acquires, beats and releases, while the nth call fails.
func oneLife(t *testing.T, st story, ahead bool, n int, errno unix.Errno, done bool) []string {
	t.Helper()
	s := newServer()
	st.before(t, s)
	s.calls = nil
	s.fault = func(string, string) (error, bool) {
		if len(s.calls)-1 == n {
			return errno, done
		}
		return nil, false
	}
	l := lockOn(s)
	l.Ahead = ahead
	problem := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\nwhen call %d (of the last line, if no more follow) fails with %v, executed: %v; the calls are\n%s", fmt.Sprintf(format, args...), n, errno, done, strings.Join(s.calls, "\n"))
	}
	h, err := persist(t, l)
	if err != nil {
		problem("the lock is never acquired: %v", err)
		return nil
	}
	if err := again(func() error { return h.Heartbeat(t.Context()) }); err != nil {
		problem("Heartbeat fails, though tried again: %v", err)
	}
	s.fault, n = nil, -1
	mustKeepOut(t, s)
	s.fault = func(string, string) (error, bool) { return nil, false }
	calls := s.calls
	if err := again(func() error { return h.Release(t.Context()) }); err != nil {
		problem("Release fails, though tried again: %v", err)
	}
	if left := s.list(); len(left) > 0 {
		problem("after the release there still is %q, want nothing", left)
	}
	return calls
}

func mustKeepOut(t *testing.T, s *server) {
	t.Helper()
	other := attemptOn(t, lockOn(s), backendtest.Request())
	mustBeHeld(t, other)
	mustWithdraw(t, other)
}

// persist does what the helper does, and what its user does when it fails.
func persist(t *testing.T, l *Lock) (backend.Hold, error) {
	t.Helper()
	var err error
	for range 3 {
		a := attemptOn(t, l, backendtest.Request())
		for range 5 {
			var h backend.Hold
			if h, err = a.Try(t.Context()); err == nil {
				return h, nil
			}
			var held *backend.HeldError
			if !errors.As(err, &held) {
				break
			}
		}
		if err := again(func() error { return a.Withdraw(context.Background()) }); err != nil {
			return nil, fmt.Errorf("withdraw: %w", err)
		}
	}
	return nil, err
}

// again repeats a call once if it fails.
func again(call func() error) error {
	if call() == nil {
		return nil
	}
	return call()
}

// TestReleaseFails lets each call of a release fail.
func TestReleaseFails(t *testing.T) {
	for n := range 6 {
		for _, errno := range []unix.Errno{unix.EIO, unix.ESTALE, unix.ENOENT} {
			for _, done := range []bool{false, true} {
				s := newServer()
				h := mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
				s.calls = nil
				s.fault = func(call, _ string) (error, bool) {
					if len(s.calls)-1 == n && (errno != unix.ENOENT || call == "unlink" && done) {
						return errno, done
					}
					return nil, false
				}
				if err := again(func() error { return h.Release(t.Context()) }); err != nil {
					t.Errorf("%v in call %d of a release, executed: %v: the release fails: %v", errno, n, done, err)
				}
				mustBeClean(t, s)
			}
		}
	}
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
			mustWork(t, fakeFS{s}.Link(a.mine.name, "L")) // late
			c.then(t, s, a)
			mustBeClean(t, s)
		})
	}
}

// TestLinkTakesEffectAfterEIO: a link that failed with EIO takes effect between two tries.
func TestLinkTakesEffectAfterEIO(t *testing.T) {
	s := newServer()
	a := attemptOn(t, lockOn(s), backendtest.Request())
	broken := true
	s.fault = func(call, name string) (error, bool) {
		if broken && (call == "link" || call == "stat") && name == "L" {
			return unix.EIO, call == "link"
		}
		return nil, false
	}
	mustBeHeld(t, a)
	broken = false
	mustRelease(t, mustHold(t, a))
	mustBeClean(t, s)
}

// TestClaimRemovedUnderUs: somebody takes our claim for a leftover and removes it.
func TestClaimRemovedUnderUs(t *testing.T) {
	for _, when := range []string{"stat", "link"} {
		s := newServer()
		a := attemptOn(t, lockOn(s), backendtest.Request())
		once := true
		s.fault = func(call, name string) (error, bool) {
			if once && call == when && (call == "link" || name != "L") {
				once = false
				delete(s.names, a.mine.name)
			}
			return nil, false
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
	s.fault = func(call, name string) (error, bool) {
		if call == "link" {
			delete(s.names, a.mine.name)
		}
		return nil, false
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
	s.fault = func(call, name string) (error, bool) {
		if call != "link" || rival != nil {
			return nil, false
		}
		var err error
		rival, err = l.newClaim(fakeFS{s}, backendtest.Request().Owner)
		mustWork(t, err)
		n := s.put(l.Name, rival.text)
		n.number = s.names[a.mine.name].number
		delete(s.names, a.mine.name)
		return nil, false
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
	s.fault = func(string, string) (error, bool) { return unix.EIO, false }
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
		s.fault = func(call, name string) (error, bool) {
			seen = seen || call == "stat" && name == "L"
			if seen && name == a.mine.name {
				s.fault = nil
				s.names["L"].links--
				delete(s.names, "L")
				if successor {
					s.put("L", "17\n")
				}
			}
			return nil, false
		}
		if successor {
			mustBeHeld(t, a)
			continue
		}
		mustRelease(t, mustHold(t, a))
		mustBeClean(t, s)
	}
}
