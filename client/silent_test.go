package client

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSilentHelper: the lease counts from OK, not from the first heartbeat.
func TestSilentHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 16 * time.Second
		l, h := held(t, lease)
		begin := time.Now()
		<-l.Lost()
		if d := time.Since(begin); d < lease*3/4 || d >= lease {
			t.Errorf("with no heartbeat after OK the loss comes after %v", d)
		}
		close(h.lines)
		<-l.ended
	})
}
