package client

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/protocol"
)

// held is a lock with a lease, whose helper is the test.
func held(t *testing.T, lease time.Duration) (*Lock, *helper) {
	t.Helper()
	ok, err := protocol.Parse(fmt.Sprintf("OK proto=1 waited_ms=0 lease_ms=%d", lease.Milliseconds()))
	if err != nil {
		t.Fatal(err)
	}
	h := &helper{lines: make(chan reading)}
	l, err := newLock(t.Context(), "local:/x", []string{"local:/x"}, h, ok)
	if err != nil {
		t.Fatal(err)
	}
	return l, h
}

// TestWatchdog: heartbeats keep the lock, counted from when they were sent. Most of a lease
// without one is a loss.
func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 16 * time.Second
		l, h := held(t, lease)
		for range 10 {
			time.Sleep(lease / 2)
			h.lines <- reading{line: protocol.Beat(0)}
		}
		time.Sleep(lease / 4)
		h.lines <- reading{line: protocol.Beat(lease / 4)}
		begin := time.Now()
		if <-l.Lost(); time.Since(begin) != lease/2+lease/16 {
			t.Errorf("the watchdog tells the loss %v after the last heartbeat", time.Since(begin))
		}
		close(h.lines)
		<-l.ended
		if l.err.Code != protocol.Expired {
			t.Errorf("the loss is %v, want the code expired", l.Err())
		}
	})
}

// TestLateOK: an OK that was in the pipe while this process was stopped counts less than one that
// comes now. The time in which the helper waited for the lock does not matter.
func TestLateOK(t *testing.T) {
	const lease = 16 * time.Second
	for _, c := range []struct{ passed, waited, want time.Duration }{
		{0, 0, lease * 3 / 4}, {time.Second, 0, lease * 3 / 4}, {time.Hour, 0, lease * 3 / 8}, {time.Hour, time.Hour, lease * 3 / 4},
		{time.Hour + lease/2, time.Hour, lease / 2}, {0, time.Second, lease * 3 / 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			ok, err := protocol.Parse(fmt.Sprintf("OK proto=1 waited_ms=%d lease_ms=%d", c.waited.Milliseconds(), lease.Milliseconds()))
			if err != nil {
				t.Fatal(err)
			}
			h := &helper{lines: make(chan reading), begun: time.Now()}
			time.Sleep(c.passed)
			l, err := newLock(t.Context(), "local:/x", []string{"local:/x"}, h, ok)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if <-l.Lost(); time.Since(begin) != c.want+lease/16 {
				t.Errorf("%v after the helper was asked, OK after a wait of %v counts for %v, want %v", c.passed, c.waited, time.Since(begin)-lease/16, c.want)
			}
			close(h.lines)
			<-l.ended
		})
	}
}

// TestBacklog: heartbeats that were in the pipe while this process was stopped count less than
// those that come now. The watchdog waits for one that comes now, and no longer.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 16 * time.Second
		l, h := held(t, lease)
		beats := func(n int) {
			for range n {
				h.lines <- reading{line: protocol.Beat(0)}
			}
		}
		time.Sleep(lease * 3 / 4)
		beats(5)
		time.Sleep(lease / 4) // a heartbeat that comes now
		beats(1)
		time.Sleep(lease*3/4 - time.Second)
		select {
		case <-l.Lost():
			t.Error("the lock is lost though a heartbeat came in time")
		default:
		}
		beats(5)
		begin := time.Now()
		if <-l.Lost(); time.Since(begin) != lease*3/8+lease/16 {
			t.Errorf("the loss comes %v after the last heartbeat that had waited in the pipe", time.Since(begin))
		}
		close(h.lines)
		<-l.ended
	})
}

// TestManyBeats: heartbeats count even if they come far more often than a long lease needs them,
// as those of link: do.
func TestManyBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, h := held(t, time.Hour)
		for range 3 * 3600 {
			time.Sleep(time.Second)
			h.lines <- reading{line: protocol.Beat(0)}
		}
		select {
		case <-l.Lost():
			t.Error("the lock is lost though heartbeats came")
		default:
		}
		close(h.lines)
		<-l.ended
	})
}

// TestBelieved: no heartbeat counts for longer than a lease after it may have come, but at least
// until the next one.
func TestBelieved(t *testing.T) {
	const lease = 16 * time.Second
	for _, c := range []struct{ ago, gap, want time.Duration }{
		{0, lease / 4, lease * 3 / 4}, {0, lease / 16, lease * 3 / 4}, {lease / 8, lease / 4, lease * 5 / 8},
		{0, lease / 2, lease / 2}, {0, 100 * lease, lease * 3 / 8}, {lease / 2, 100 * lease, lease / 4}, {lease, lease / 4, -lease / 4},
	} {
		if got := believed(lease, c.ago, c.gap); got != c.want {
			t.Errorf("a heartbeat sent %v ago, read %v after the one before, counts for %v, want %v", c.ago, c.gap, got, c.want)
		}
	}
}
