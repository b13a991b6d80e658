package locksmith

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/locksmith/events"
	"locksmith/protocol"
)

// eventList is a fake file of events.
type eventList struct {
	found []events.Event
	log   bytes.Buffer // the helper's
	err   error        // of every write
	takes time.Duration
}

func (l *eventList) Write(e events.Event) error {
	time.Sleep(l.takes)
	if l.err != nil {
		return l.err
	}
	if _, err := e.Format(); err != nil {
		return err
	}
	l.found = append(l.found, e)
	return nil
}

func (l *eventList) follow(h *Helper) (finish func(time.Duration, error)) {
	if l == nil {
		return func(time.Duration, error) {}
	}
	h.Log = hclog.New(&hclog.LoggerOptions{Output: &l.log, Level: hclog.Warn})
	return h.Record(l, "sh").Finish
}

func (l *eventList) kinds() string {
	var all []string
	for _, e := range l.found {
		all = append(all, string(e.Kind))
	}
	return strings.Join(all, " ")
}

// recorded is live, with events.
func recorded(t *testing.T, wanted, timeout time.Duration, change func(*world, *fakeClient), check func(*world, *eventList, error)) {
	t.Helper()
	list := &eventList{}
	live(t, wanted, timeout, func(w *world, g *fakeClient) {
		g.events = list
		change(w, g)
	}, func(w *world, _ *fakeClient, _ time.Duration, err error) { check(w, list, err) })
}

func TestRecordLife(t *testing.T) {
	recorded(t, 10*time.Minute, Forever, func(w *world, _ *fakeClient) {
		w.heldFor = time.Minute
		w.releaseErr = func(n int) error {
			if n < 3 {
				return errServer
			}
			return nil
		}
	}, func(_ *world, l *eventList, err error) {
		if err != nil || l.kinds() != "waiting acquired released" {
			t.Fatalf("events %q, error %v; want waiting, acquired and released, and no error", l.kinds(), err)
		}
		for _, e := range l.found {
			if e.PID != os.Getpid() || e.Mode != "exclusive" || e.Command != "sh" || !slices.Equal(e.Locks, []string{"fake:/x"}) {
				t.Errorf("an event has a wrong pid, mode, command or lock: %+v", e)
			}
		}
		waiting, acquired, released := l.found[0], l.found[1], l.found[2]
		if waiting.Boot.Span() != 0 || waiting.Holder.PID != 4242 {
			t.Errorf("waiting has a boot time, or not the holder with pid 4242: %+v", waiting)
		}
		if acquired.Waited.Span() != time.Minute || acquired.Boot.Span() != time.Minute || acquired.ID != "id" || acquired.Token != 7 {
			t.Errorf("acquired has a wrong wait, boot time, id or token: %+v", acquired)
		}
		// After 10 ms and 20 ms more the release succeeded.
		if released.Release.Span() != 30*time.Millisecond || released.Held.Span() != 9*time.Minute+released.Release.Span() {
			t.Errorf("released has a wrong release or hold time: %+v", released)
		}
	})
}

func TestRecordGivesUp(t *testing.T) {
	waits := func(w *world, _ *fakeClient) { w.heldFor = time.Hour }
	for name, c := range map[string]struct {
		wanted, timeout time.Duration
		change          func(*world, *fakeClient)
		kinds           string
		code            protocol.Code
		waited          time.Duration
	}{
		"one try":        {time.Hour, 0, waits, "gave-up", protocol.Held, 0},
		"timeout":        {time.Hour, time.Minute, waits, "waiting gave-up", protocol.Timeout, time.Minute},
		"parent goes":    {time.Second, Forever, waits, "waiting gave-up", protocol.Cancelled, time.Second},
		"error":          {time.Hour, Forever, func(w *world, _ *fakeClient) { w.tryErr = errServer }, "gave-up", protocol.Internal, 0},
		"does not start": {time.Hour, Forever, func(_ *world, g *fakeClient) { g.startErr = errServer }, "acquired gave-up", protocol.Internal, 0},
	} {
		t.Run(name, func(t *testing.T) {
			recorded(t, c.wanted, c.timeout, c.change, func(_ *world, l *eventList, err error) {
				last := l.found[len(l.found)-1]
				if l.kinds() != c.kinds || last.Code != c.code || last.Text != err.Error() || last.Waited.Span() != c.waited {
					t.Errorf("events %q, want %q, and the last with code %s, after %v: %+v", l.kinds(), c.kinds, c.code, c.waited, last)
				}
			})
		})
	}
}

func TestRecordLate(t *testing.T) {
	t.Run("failures", func(t *testing.T) {
		recorded(t, lease/2, Forever, func(w *world, _ *fakeClient) {
			w.beatErr = func(n int) error {
				if n < 3 {
					return errServer
				}
				return nil
			}
		}, func(_ *world, l *eventList, err error) {
			if err != nil || l.kinds() != "acquired late late late released" {
				t.Fatalf("events %q, error %v; want acquired, three times late and released, and no error", l.kinds(), err)
			}
			for i, e := range l.found[1:4] {
				if want := time.Duration(i) * lease / 16; e.Late.Span() < want || e.Late.Span() > want+lease/64 || (e.Error == "") != (i == 2) {
					t.Errorf("%v late, error %q, want %v", e.Late.Span(), e.Error, want)
				}
			}
		})
	})
	t.Run("stopped", func(t *testing.T) {
		recorded(t, time.Minute, Forever, func(w *world, _ *fakeClient) {
			time.AfterFunc(lease/8, func() { w.clock.ahead.Add(int64(lease * 5 / 8)) })
		}, func(_ *world, l *eventList, err error) {
			if l.kinds() != "acquired late released" || l.found[1].Late.Span() < lease/2 || l.found[1].Error != "" {
				t.Errorf("the events are %q, and the second says %v late; want \"acquired late released\", and half a lease at least", l.kinds(), l.found[1].Late.Span())
			}
		})
	})
	t.Run("in time", func(t *testing.T) {
		recorded(t, time.Hour, Forever, func(w *world, _ *fakeClient) { w.beatTakes = time.Second }, func(_ *world, l *eventList, _ error) {
			if l.kinds() != "acquired released" {
				t.Errorf("events %q, want acquired and released", l.kinds())
			}
		})
	})
}

func TestRecordLoss(t *testing.T) {
	recorded(t, time.Hour, Forever, func(w *world, _ *fakeClient) {
		w.beatErr = func(int) error { return backend.ErrGone }
	}, func(_ *world, l *eventList, err error) {
		if l.kinds() != "acquired lost" || l.found[1].Code != protocol.Gone || l.found[1].Text != err.Error() {
			t.Errorf("events %q, want acquired and lost with code %s and the text of the error: %+v", l.kinds(), protocol.Gone, l.found)
		}
		if acquired, lost := l.found[0], l.found[1]; acquired.Lease.Span() != lease || lost.Silent.Span() != lost.Boot.Span()-acquired.Boot.Span() || lost.Silent.IsZero() {
			t.Errorf("a lease of %v, and no heartbeat for %v: want %v, and the time since the lock was acquired", acquired.Lease.Span(), lost.Silent.Span(), lease)
		}
	})
	recorded(t, time.Minute, Forever, func(w *world, _ *fakeClient) {
		w.releaseErr = func(int) error { return errServer }
	}, func(_ *world, l *eventList, err error) {
		if l.kinds() != "acquired lost" || l.found[1].Code != protocol.Unreleased {
			t.Errorf("events %q, want \"acquired lost\" with code %s, because the release failed until its time was over: %+v", l.kinds(), protocol.Unreleased, l.found)
		}
	})
}

// TestRecordHolders: each holder that a waiter sees is recorded once.
func TestRecordHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Helper{Address: "fake:/x", Client: &fakeClient{}, Log: hclog.NewNullLogger()}
		h.Request.Clock, h.Request.Owner.Mode = &jumpingClock{start: clock.Runtime{}.Now()}, "shared"
		l := &eventList{}
		r := h.Record(l, "")
		for _, seen := range []backend.Holder{
			{}, {},
			{PID: 4, Record: &owner.Record{ID: "a", User: "al\x1bice", Place: owner.Place{Host: "db1"}}},
			{PID: 4, Record: &owner.Record{ID: "a", User: "al\x1bice", Place: owner.Place{Host: "db1"}}},
			{PID: 4, Record: &owner.Record{ID: "b", User: "alice", Place: owner.Place{Host: "db1"}}},
			{PID: 5},
		} {
			h.Client.Waiting(&backend.HeldError{Holder: seen})
		}
		r.Finish(0, nil)
		var told []string
		for _, e := range l.found[:len(l.found)-1] {
			told = append(told, fmt.Sprintf("%+v", e.Holder))
		}
		want := []string{"{ID: User: Host: PID:0}", "{ID:a User:al?ice Host:db1 PID:4}", "{ID:b User:alice Host:db1 PID:4}", "{ID: User: Host: PID:5}"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// TestRecordEarlyLoss: the loss of a lock whose command had not begun is among the events, though the
// client is not told of it.
func TestRecordEarlyLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Helper{Address: "fake:/x", Client: &fakeClient{}, Log: hclog.NewNullLogger()}
		h.Request.Clock, h.Request.Owner.Mode = &jumpingClock{start: clock.Runtime{}.Now()}, "exclusive"
		l := &eventList{}
		h.Record(l, "").Finish(time.Second, &LossError{Code: protocol.MaxHold, Lock: "fake:/x", Err: errors.New("too long")})
		if l.kinds() != "lost" || l.found[0].Code != protocol.MaxHold {
			t.Errorf("the events are %q, want the loss", l.kinds())
		}
	})
}

// setOf returns a helper of a set. It does not run.
func setOf(locks ...Lock) *Helper {
	h := &Helper{Address: "a set", Locks: locks, Client: &fakeClient{}, Log: hclog.NewNullLogger()}
	h.Request.Clock = &jumpingClock{start: clock.Runtime{}.Now()}
	h.Request.Owner.Mode = locks[0].Mode
	for _, l := range locks {
		if l.Mode != locks[0].Mode {
			h.Request.Owner.Mode = "mixed"
		}
	}
	return h
}

// TestRecordSet: events name each lock of a set, and which one is not free.
func TestRecordSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := setOf(Lock{"fake:/b", "shared"}, Lock{"fake:/a", "exclusive"}, Lock{"fake:/b", "shared"})
		l := &eventList{}
		r := h.Record(l, "")
		for _, lock := range []string{"fake:/a", "fake:/a", "fake:/b", "fake:/elsewhere"} {
			h.Client.Waiting(&backend.HeldError{Lock: lock, Holder: backend.Holder{PID: 4}})
		}
		if err := h.Client.Start(protocol.Grant{ID: "x,y,x", Tokens: []uint64{7, 0, 7}}); err != nil {
			t.Fatal(err)
		}
		r.Finish(0, nil)
		if l.kinds() != "waiting waiting waiting acquired released" {
			t.Fatalf("events %q, want three times waiting, acquired and released", l.kinds())
		}
		for i, e := range l.found {
			if !slices.Equal(e.Locks, []string{"fake:/b", "fake:/a", "fake:/b"}) || e.Mode != "mixed" ||
				!slices.Equal(e.Modes, []string{"shared", "exclusive", "shared"}) {
				t.Errorf("event %d has not the set's three locks and modes in the user's order: %+v", i, e)
			}
			if want := []string{"fake:/a", "fake:/b", "", "", ""}[i]; e.Lock != want || e.Kind == events.Waiting && e.Holder.PID != 4 {
				t.Errorf("waiting for %q, want %q", e.Lock, want)
			}
		}
		if e := l.found[3]; e.ID != "x,y,x" || e.Token != 0 || !slices.Equal(e.Tokens, []uint64{7, 0, 7}) {
			t.Errorf("acquired has not the set's ids and tokens, and no token of its own: %+v", e)
		}
	})
}

// TestRecordLargeSet: a thousand locks are written down, all in one mode.
func TestRecordLargeSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks []Lock
		for i := range 1000 {
			locks = append(locks, Lock{fmt.Sprintf("local:/var/lock/billing/%d", i), "shared"})
		}
		h := setOf(locks...)
		l := &eventList{}
		r := h.Record(l, "")
		if err := h.Client.Start(protocol.Grant{ID: strings.Repeat(",id", 1000)[1:], Tokens: make([]uint64, 1000)}); err != nil {
			t.Fatal(err)
		}
		r.Finish(0, nil)
		if l.kinds() != "acquired released" {
			t.Fatalf("events %q, want acquired and released", l.kinds())
		}
		for _, e := range l.found {
			if len(e.Locks) != 1000 || e.Mode != "shared" || e.Modes != nil {
				t.Errorf("an event of a set has %d locks, the mode %q and %d modes; want 1000 locks and the mode shared alone", len(e.Locks), e.Mode, len(e.Modes))
			}
		}
	})
}

// TestRecordFails: a full disk costs the events and one line in the log, and nothing else.
func TestRecordFails(t *testing.T) {
	recorded(t, time.Hour, Forever, func(w *world, g *fakeClient) {
		g.events.err = errors.New("disk is full")
		w.heldFor = time.Minute
	}, func(w *world, l *eventList, err error) {
		if err != nil || len(l.found) != 0 || w.clock.Now() != time.Hour {
			t.Errorf("no event can be written: Run returns %v at %v with %d events; want no error at %v and no event", err, w.clock.Now(), len(l.found), time.Hour)
		}
		if n := strings.Count(l.log.String(), "disk is full"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, &l.log)
		}
	})
}

// TestRecordHangs: a file server that does not answer costs no more than that.
func TestRecordHangs(t *testing.T) {
	recorded(t, time.Hour, Forever, func(w *world, g *fakeClient) {
		g.events.takes = time.Hour
		w.heldFor = time.Minute
	}, func(w *world, l *eventList, err error) {
		if late := w.clock.Now() - time.Hour; err != nil || late > lineTimeout+4*beatTimeout || w.inside {
			t.Errorf("writing events hangs: Run returns %v, %v late, and the lock is there: %v; want no error, %v late at most, and no lock", err, late, w.inside, lineTimeout+4*beatTimeout)
		}
		if n := strings.Count(l.log.String(), "no answer in time"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, &l.log)
		}
	})
}

// TestRecordsAreShort: texts of others make no line too long for a pipe.
func TestRecordsAreShort(t *testing.T) {
	long := strings.Repeat("ä\x00", 5000)
	recorded(t, time.Hour, Forever, func(w *world, _ *fakeClient) { w.tryErr = errors.New(long) }, func(_ *world, l *eventList, _ error) {
		for _, e := range l.found {
			if line, err := e.Format(); err != nil || len(line) > 4096 {
				t.Errorf("an event becomes a line of %d bytes, with the error %v; want 4096 bytes at most", len(line), err)
			}
		}
		if l.kinds() != "gave-up" {
			t.Errorf("events %q, want gave-up", l.kinds())
		}
	})
}
