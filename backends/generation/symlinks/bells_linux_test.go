package symlinks

import (
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
	"locksmith/test/faulty"
)

// TestBellWhileServerIsAway: a holder gives up because it cannot reach the server. That ends
// nobody else's wait.
func TestBellWhileServerIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		// 1. The holder has a bell, which the waiter hears.
		old := newHost("holder", m).take(t, "exclusive")
		bell := posix.HangBell(old.Mine.in.bell())
		var away atomic.Bool
		a := newHost("waiter", hooked(m, func(o faulty.Call) error {
			if away.Load() {
				return unix.ETIMEDOUT
			}
			return o.Do()
		})).want(t, "exclusive")
		a.lock.Bells = true
		mustBeHeld(t, a)
		if !a.hearsPredecessor() {
			t.Fatal("the waiter hears no bell")
		}
		start := time.Now()
		// 2. The server goes away, and then the holder's process.
		time.AfterFunc(time.Second, func() {
			away.Store(true)
			bell.Ring()
		})
		// 3. The server comes back, and the lock is free.
		time.AfterFunc(20*time.Second, func() {
			_ = m.Rmdir(t.Context(), old.Mine.path())
			away.Store(false)
		})
		mustRelease(t, mustAcquire(t, a))
		between(t, "waiting", time.Since(start), 20*time.Second, 20*time.Second+slack)
	})
}
