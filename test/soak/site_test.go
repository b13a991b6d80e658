//go:build unix

package soak

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab/holds"
)

// A site is a disk with a lock, and the helpers that come there.
type site struct {
	t    *testing.T
	kind kind
	disk *disk

	mu      sync.Mutex
	visits  int          // that began
	present int          // helpers that live, or are being forgotten
	dead    map[int]bool // by pid
	held    int
	history holds.History
}

func newSite(t *testing.T, k kind) *site {
	return &site{t: t, kind: k, disk: &disk{dir: t.TempDir()}, dead: map[int]bool{}}
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

// enter notes that a helper has the lock now.
func (s *site) enter(h *helper, token uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	s.history.Take(holds.Hold{Who: strconv.Itoa(h.pid), Shared: h.mode != exclusive, Start: bubbleTime{}.Now(), Token: token})
}

// exit notes that a helper has the lock no more.
func (s *site) exit(h *helper) { s.history.Give(strconv.Itoa(h.pid), bubbleTime{}.Now()) }

// died notes that a helper died, as everybody on its host then knows.
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

// ended checks the error with which a helper that did not crash ended.
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

// gone notes that a helper's goroutine is about to end.
func (s *site) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present--
}

// count adds to a state what was counted since the last call.
func (s *site) count(to *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to[present] += s.present
	to[taken] += s.held
	s.held = 0
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	to[keptOpen] += s.disk.kept
	to[calls] += s.disk.calls
	s.disk.calls = 0
}
