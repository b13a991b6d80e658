//go:build unix

package link

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// The server executes a breaker's request for its turn late.

// claimed is the file of the only claim.
func (s *server) claimed() *inode {
	for name, n := range s.names {
		if strings.HasPrefix(name, "L"+claimMark) {
			return n
		}
	}
	return nil
}

// TestTurnComesLate: between our two looks at whose turn it is, another breaker has had the turn
// and given it up.
func TestTurnComesLate(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	s.fault = func(c faulty.Call) error {
		if !strings.HasPrefix(c.Name, "L"+entryMark) {
			return c.Do()
		}
		switch c.Op {
		case "link":
			s.put(c.Name, "somebody else\n")
		case "read":
			s.names[c.Name], s.fault = s.claimed(), nil
			s.names[c.Name].links++
		}
		return c.Do()
	}
	mustRelease(t, mustHold(t, attemptOn(t, lockOn(s), backendtest.Request())))
	mustBeClean(t, s)
}

// TestTurnComesAgain: the turn comes to a breaker that has given up. It must not wait for itself
// for ever.
func TestTurnComesAgain(t *testing.T) {
	s := newServer()
	mustHold(t, attemptOn(t, lockOn(s), deadRequest(t)))
	turn := ""
	s.fault = func(c faulty.Call) error {
		switch {
		case turn != "": // the first call after the turn was given up
			if n := s.claimed(); n != nil {
				s.names[turn] = n
				n.links++
			}
			s.fault = nil
		case c.Op == "unlink" && strings.HasPrefix(c.Name, "L"+entryMark):
			turn = c.Name
		case c.Op == "stat" && strings.HasPrefix(c.Name, "L"+entryMark):
			return unix.EIO
		}
		return c.Do()
	}
	r := backendtest.Request()
	r.Strict = true
	a := attemptOn(t, lockOn(s), r)
	mustBeHeld(t, a)
	if turn == "" {
		t.Fatal("the breaker had no turn")
	}
	mustRelease(t, mustHold(t, a))
	mustBeClean(t, s)
}
