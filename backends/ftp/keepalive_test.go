package ftp

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/test/lab"
)

// A manual clock stands still until it is told to go on.
type manual struct {
	mu     sync.Mutex
	now    time.Duration
	timers map[*alarm]bool
}

type alarm struct {
	clock *manual
	at    time.Duration
	c     chan time.Time
}

func (m *manual) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *manual) NewTimer(d time.Duration) clock.Timer {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := &alarm{m, m.now + d, make(chan time.Time, 1)}
	if m.timers == nil {
		m.timers = map[*alarm]bool{}
	}
	m.timers[a] = true
	return a
}

func (a *alarm) C() <-chan time.Time { return a.c }

func (a *alarm) Stop() {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	delete(a.clock.timers, a)
}

// waiting returns when the next timer fires; 0: there is none.
func (m *manual) waiting() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := time.Duration(0)
	for a := range m.timers {
		if next == 0 || a.at < next {
			next = a.at
		}
	}
	return next
}

// advance waits until somebody sleeps until the given moment, and then advances the clock.
func (m *manual) advance(t testing.TB, until, by time.Duration) {
	t.Helper()
	eventually(t, func() bool { return m.waiting() == until })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += by
	for a := range m.timers {
		if a.at <= m.now {
			a.c <- time.Time{}
			delete(m.timers, a)
		}
	}
}

func eventually(t testing.TB, is func() bool) {
	t.Helper()
	lab.Eventually(t, "it comes to that", is)
}

// awaitHangUp returns when the server has ended the connection.
func awaitHangUp(t testing.TB, d *Dir) {
	t.Helper()
	eventually(t, func() bool {
		d.busy <- struct{}{}
		defer d.leave()
		return d.conn.control.quiet() != nil
	})
}

// TestKeepalive: every two minutes an idle connection lists the directory that was made last.
func TestKeepalive(t *testing.T) {
	t.Parallel()
	f, m := startFake(t), &manual{}
	d := f.dir()
	d.clock = m
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Fatal(err)
	}
	m.advance(t, 2*time.Minute, 2*time.Minute)
	m.advance(t, 4*time.Minute, time.Minute)
	holds(t, d, ".", "a", "bb") // this listing counts, too
	if err := d.Rename(soon(t), "L.r.1/0", "L.r.1/1"); err != nil {
		t.Fatal(err)
	}
	// The timer was set before that.
	m.advance(t, 4*time.Minute, time.Minute)
	m.advance(t, 5*time.Minute, time.Minute)
	eventually(t, func() bool { return len(f.sent("NLST")) == 3 })
	if err := d.Rmdir(soon(t), "L.r.1/1"); err != nil {
		t.Fatal(err)
	}
	m.advance(t, 7*time.Minute, 2*time.Minute)
	eventually(t, func() bool { return len(f.sent("NLST")) == 4 })
	if got := f.sent("NLST"); !slices.Equal(got, []string{"1 NLST /dir/L", "1 NLST /dir", "1 NLST /dir/L.r.1/1", "1 NLST /dir"}) {
		t.Errorf("the listings that were sent are %q, want those of the lock, then of the directory, of the reservation, and again of the directory: look at keepalive.go", got)
	}
	d.Close()
	eventually(t, func() bool { return m.waiting() == 0 }) // nobody waits any more
}

// TestKeepaliveLearns: if a server closes idle connections sooner, the keepalive asks more often.
func TestKeepaliveLearns(t *testing.T) {
	t.Parallel()
	f, m := startFake(t), &manual{}
	f.when("MKD", func(c *talk) {
		c.obey()
		if c.number <= 3 {
			c.say("421 idle")
			c.cut()
		}
	})
	d := f.dir()
	d.clock = m
	every := func() time.Duration {
		d.busy <- struct{}{}
		defer d.leave()
		return d.keepalive.every
	}
	for i, want := range []time.Duration{time.Minute, 30 * time.Second, 15 * time.Second} {
		if err := d.Mkdir(soon(t), "L"); err != nil {
			t.Fatal(err)
		}
		awaitHangUp(t, d)
		m.advance(t, m.Now()+every(), every())
		eventually(t, func() bool { return every() == want })
		if n := len(f.sent("MKD")); n != i+1 {
			t.Errorf("MKD was sent %d times, want %d", n, i+1)
		}
	}
	d.keepalive.every = keepSoonest
	m.now += keepSoonest
	d.closed(errClosed)
	if d.keepalive.every != keepSoonest {
		t.Errorf("after the server hung up, the connection is kept alive every %v, want %v", d.keepalive.every, keepSoonest)
	}
}

// TestKeepaliveFails: a keepalive that fails drops the connection, and does nothing else.
func TestKeepaliveFails(t *testing.T) {
	t.Parallel()
	f, m := startFake(t).when("NLST", (*talk).hang), &manual{}
	d := f.dir()
	d.clock = m
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Fatal(err)
	}
	d.conn.deadlines.timeout = time.Second
	m.advance(t, 2*time.Minute, 2*time.Minute)
	eventually(t, func() bool { return len(f.sent("NLST")) == 1 })
	if err := d.Mkdir(soon(t), "L/x.1"); err != nil {
		t.Error(err)
	}
	if got := f.sent("MKD"); got[1] != "2 MKD /dir/L/x.1" {
		t.Errorf("MKD was sent as %q, want the second over a second connection, with its whole path", got)
	}
}

// TestCloseEndsKeepalive: Close does not wait for a keepalive.
func TestCloseEndsKeepalive(t *testing.T) {
	t.Parallel()
	f, m := startFake(t).when("NLST", (*talk).hang), &manual{}
	d := f.dir()
	d.clock = m
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Fatal(err)
	}
	m.advance(t, 2*time.Minute, 2*time.Minute)
	eventually(t, func() bool { return len(f.sent("NLST")) == 1 })
	start := time.Now()
	d.Close()
	if time.Since(start) > late {
		t.Errorf("Close takes %v, want %v at most", time.Since(start), late)
	}
}

// TestAwait: it sleeps until the context ends.
func TestAwait(t *testing.T) {
	t.Parallel()
	d := startFake(t).dir()
	ctx, cancel := context.WithCancel(soon(t))
	time.AfterFunc(20*time.Millisecond, cancel)
	d.Await(ctx, "L", process.Process{}, time.Hour)
	d.Await(soon(t), "L", process.Process{}, time.Millisecond)
	if ctx.Err() == nil {
		t.Error("it came back early")
	}
}
