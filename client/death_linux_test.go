package client_test

import (
	"errors"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// TestKilledAtRelease: of a helper that does not end in time it is said that it did not
// release the lock, however it was noticed that it is gone.
func TestKilledAtRelease(t *testing.T) {
	for range 10 {
		address, path := newLock(t)
		l := acquire(t, address, client.KillAfter(20*time.Millisecond))
		lab.Stop(t, helperPID(t, path))
		var lost *client.LostError
		if err := l.Release(); !errors.As(err, &lost) || lost.Code != protocol.Unreleased {
			t.Errorf("release: %v", err)
		}
	}
}

// TestKillAfterNothing: no time at all is the usual time, and not a healthy helper's end.
func TestKillAfterNothing(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		address, path := newLock(t)
		if err := acquire(t, address, client.KillAfter(d)).Release(); err != nil {
			t.Errorf("KillAfter(%v): release by a helper that is well: %v", d, err)
		}
		mustBeFree(t, path)
	}
}
