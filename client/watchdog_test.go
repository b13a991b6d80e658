package client

import (
	"testing"
	"testing/synctest"
	"time"

	"locksmith/protocol"
)

// TestWatchdog: heartbeats keep the lock, counted from when they were sent; most of a lease
// without one is a loss.
func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 16 * time.Second
		ok, err := protocol.Parse("OK proto=1 waited_ms=0 lease_ms=16000")
		if err != nil {
			t.Fatal(err)
		}
		h := &helper{lines: make(chan reading)}
		l, err := newLock(t.Context(), "local:/x", h, ok)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			time.Sleep(lease / 2)
			h.lines <- reading{line: protocol.Beat(0)}
		}
		h.lines <- reading{line: protocol.Beat(lease / 4)}
		begin := time.Now()
		if <-l.Lost(); time.Since(begin) != lease/2+lease/16 {
			t.Errorf("lost %v after the heartbeat", time.Since(begin))
		}
		close(h.lines)
		<-l.ended
		if l.err.Code != protocol.Expired {
			t.Errorf("lost: %v", l.Err())
		}
	})
}
