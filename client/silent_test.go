package client

import (
	"testing"
	"testing/synctest"
	"time"

	"locksmith/protocol"
)

// TestSilentHelper: the lease counts from OK, not from the first heartbeat.
func TestSilentHelper(t *testing.T) {
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
		begin := time.Now()
		<-l.Lost()
		if d := time.Since(begin); d < lease*3/4 || d >= lease {
			t.Errorf("lost after %v", d)
		}
		close(h.lines)
		<-l.ended
	})
}
