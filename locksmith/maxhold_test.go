package locksmith

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A slowClient takes its time to stop.
type slowClient struct {
	fakeClient
	stops    time.Duration // how long it takes to stop without a hurry
	stopped  time.Duration // when it had stopped
	beforeIt func()        // called when it has stopped
}

func (c *slowClient) Lost(ctx context.Context, l *LossError) {
	c.fakeClient.Lost(ctx, l)
	clock.Sleep(ctx, c.clock, c.stops)
	c.stopped = c.clock.Now()
	synctest.Wait() // let a heartbeat of the same moment come first
	c.beforeIt()
}

// TestHeldTooLong: the client is told in time. Nobody else gets the lock before the client has
// stopped, however long that takes.
func TestHeldTooLong(t *testing.T) {
	const most = 10 * lease
	for name, c := range map[string]struct {
		stops  time.Duration
		change func(*world)
		code   protocol.Code
		inside bool // when the client has stopped
		left   bool // the lock is still there at the end
	}{
		"it stops at once": {0, nil, protocol.MaxHold, true, false},
		"it hardly stops":  {5 * lease, nil, protocol.MaxHold, true, false},
		"the lock is lost meanwhile": {5 * lease, func(w *world) {
			w.beatErr = func(int) error {
				if w.clock.Now() <= most {
					return nil
				}
				w.inside = false
				return backend.ErrGone
			}
			w.releaseErr = func(int) error { return backend.ErrGone }
		}, protocol.Gone, false, false},
		"it cannot be released": {0, func(w *world) {
			w.releaseErr = func(int) error { return errServer }
		}, protocol.Unreleased, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clk := &jumpingClock{start: clock.Runtime{}.Now()}
				w := &world{clock: clk}
				if c.change != nil {
					c.change(w)
				}
				g := &slowClient{fakeClient: fakeClient{ctx: t.Context(), clock: clk}, stops: c.stops}
				beats := 0
				g.beforeIt = func() {
					if beats = w.beats; w.inside != c.inside {
						t.Errorf("when the client has stopped its work, the lock is there: %v, want %v", w.inside, c.inside)
					}
				}
				var log bytes.Buffer
				h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Error}),
					Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease, MaxHold: most}, Clock: clk}}
				_, err := h.Run()
				if CodeOf(err) != c.code || g.lost == nil || g.lost.Code != protocol.MaxHold || g.lostAt != most {
					t.Errorf("the helper ended with %v, want code %s; the client was told of the loss %v after %v, want code %s after %v", err, c.code, g.lost, g.lostAt, protocol.MaxHold, most)
				}
				if w.inside != c.left {
					t.Errorf("at its end the lock is there: %v, want %v; %s", w.inside, c.left, w.releasing())
				}
				if g.lost != nil && (g.lost.Left <= 0 || g.lost.Left > stopTime) {
					t.Errorf("the client has %v to stop its work, want more than 0 and %v at most", g.lost.Left, stopTime)
				}
				if told := strings.Contains(log.String(), "code="+string(c.code)); told != (c.code != protocol.MaxHold) {
					t.Errorf("the log has a loss with code %s: %v, want %v; it is %q", c.code, told, !told, &log)
				}
				if c.code == protocol.Gone && g.stopped > most+lease/4 {
					t.Errorf("the client worked for %v after the limit, though the lock was lost meanwhile; want %v at most", g.stopped-most, lease/4)
				}
				if c.code == protocol.MaxHold && beats < int((most+c.stops)/(lease/4))-2 {
					t.Errorf("%d heartbeats until the client stopped, want %d at least", beats, int((most+c.stops)/(lease/4))-2)
				}
			})
		})
	}
}

// TestDescendantsStop: when a command has ended, its descendants may go on for longer than the lease.
// Nobody else gets the lock before they have ended, though the command does not want it any more.
func TestDescendantsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: clk, beatTakes: time.Millisecond}
		ctx, end := context.WithCancel(t.Context())
		g := &slowClient{fakeClient: fakeClient{ctx: ctx, clock: clk}, stops: 5 * lease, beforeIt: func() {}}
		time.AfterFunc(lease+time.Second, end) // a second after the limit
		h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease, MaxHold: lease}, Clock: clk}}
		_, err := h.Run()
		if CodeOf(err) != protocol.MaxHold || g.stopped < 6*lease || w.inside {
			t.Errorf("the descendants of the command stopped after %v: Run returns %v, and at its end the lock is there: %v; want code %s after %v, and no lock: no heartbeat failed", g.stopped, err, w.inside, protocol.MaxHold, 6*lease)
		}
	})
}

// TestLetGoInTime: a client that lets go before the limit is told nothing.
func TestLetGoInTime(t *testing.T) {
	live(t, time.Minute, Forever, nil, func(w *world, g *fakeClient, held time.Duration, err error) {
		if err != nil || g.lost != nil {
			t.Errorf("Run returns %v, and told the client of the loss %v; want neither", err, g.lost)
		}
	})
}
