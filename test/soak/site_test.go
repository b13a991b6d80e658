package soak

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/protocol"
)

// A site is a disk with a lock, and those who come there.
type site struct {
	t    *testing.T
	kind kind
	disk *disk

	mu      sync.Mutex
	visits  int // that began
	present int // helpers that live, or are being forgotten
	holders map[*helper]bool
	dead    map[int]bool // by pid
	held    int
}

func newSite(t *testing.T, k kind) *site {
	return &site{t: t, kind: k, disk: newDisk(), holders: map[*helper]bool{}, dead: map[int]bool{}}
}

// plays lets the visits of one hour begin at their times.
func (s *site) plays(hour []visit) {
	for _, v := range hour {
		if s.kind.silent && v.end == crashesWaiting {
			v.host = near
		}
		time.AfterFunc(v.at, func() { s.begin(v).live() })
	}
}

func (s *site) begin(v visit) *helper {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits++
	s.present++
	h := &helper{client: s.disk.client(), visit: v, site: s, pid: s.visits, holds: new(atomic.Bool)}
	h.wanted, h.leave = context.WithCancelCause(s.t.Context())
	return h
}

// enter: it has the lock now.
func (s *site) enter(h *helper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.holders {
		if h.mode == exclusive || other.mode == exclusive {
			s.t.Errorf("%s: %+v holds the lock, and so does %+v", s.kind.name, h.visit, other.visit)
		}
	}
	s.holders[h] = true
	s.held++
}

// exit: it has the lock no more.
func (s *site) exit(h *helper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holders, h)
}

// died: everybody on its host knows.
func (s *site) died(h *helper) {
	s.exit(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead[h.pid] = true
}

func (s *site) isDead(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead[pid]
}

// ended is what came of one that did not crash.
func (s *site) ended(h *helper, code protocol.Code, err error) {
	s.exit(h)
	switch {
	case err == nil:
	case code == protocol.Timeout && h.timeout > 0:
	case h.end == cutOff && (code == protocol.Expired || code == protocol.Unreleased):
	case s.t.Context().Err() != nil:
	default:
		s.t.Errorf("%s: %+v: %v", s.kind.name, h.visit, err)
	}
}

// gone: its goroutine is about to end.
func (s *site) gone(*helper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present--
}
