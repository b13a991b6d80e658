package locksmith

import (
	"context"
	"errors"
	"fmt"
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

// TestReleaseTimeout: a client that lets go of a lock on a dead server is told so in time, and is
// not told of each try.
func TestReleaseTimeout(t *testing.T) {
	for _, limit := range []time.Duration{0, 10 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			clk := &jumpingClock{start: clock.Runtime{}.Now()}
			w := &world{clock: clk, releaseErr: func(n int) error { return fmt.Errorf("connection %d refused", n) }}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(ErrStdinClosed)
			var log strings.Builder
			h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: ctx, clock: clk}, Timeout: Forever, ReleaseTimeout: limit,
				Log:     hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn}),
				Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: time.Hour}, Clock: clk}}
			err := h.session(w, 0).release()
			if CodeOf(err) != protocol.Unreleased || clk.Now() > limit || clk.Now() < limit*8/10 || !strings.Contains(err.Error(), "frees itself") {
				t.Errorf("with a ReleaseTimeout of %v and a server that refuses, release returns %v after %v; want code %s and \"frees itself\" at the end of that time", limit, err, clk.Now(), protocol.Unreleased)
			}
			if n := strings.Count(log.String(), "[WARN]"); n > 1 || n == 0 && limit > 0 {
				t.Errorf("with a ReleaseTimeout of %v there are %d warnings, want one:\n%s", limit, n, &log)
			}
		})
	}
}

// TestReleaseCutShort: the warning of a release whose time was over says so, and not that a context
// was canceled, which is a word of ours. What calls test for in such an error stays in it.
func TestReleaseCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Helper{Address: "fake:/x", Log: hclog.NewNullLogger(), Request: backend.Request{Owner: owner.Record{Lease: time.Hour}, Clock: clock.Runtime{}}}
		_, err := h.session(&world{}, 0).call(t.Context(), 10*time.Second, 5*time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("sftp://host/x: remove: %w: %w", ctx.Err(), backend.ErrGone)
		})
		const want = "sftp://host/x: remove: cut short after 5s, without an answer"
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, context.Canceled) || !errors.Is(err, backend.ErrGone) {
			t.Errorf("a call that was cut short returns %q, want %q and what it wraps", err, want)
		}
	})
}

// TestLetGoOfDeadServer: however long the lease, a client that lets go of a lock does not wait
// long for a call that hangs. No other call is made beside that one.
func TestLetGoOfDeadServer(t *testing.T) {
	const long = 16 * time.Hour
	for hangs, c := range map[time.Duration]struct {
		code  protocol.Code
		limit time.Duration
	}{
		time.Second / 2:  {"", answerTime},
		5 * time.Second:  {"", ReleaseTimeout},
		30 * time.Second: {protocol.Unreleased, answerTime + ReleaseTimeout},
		long:             {protocol.Unreleased, answerTime + ReleaseTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			clk := &jumpingClock{start: clock.Runtime{}.Now()}
			w := &deafWorld{world: &world{clock: clk, beatTakes: hangs}, t: t}
			ctx, cancel := context.WithCancelCause(t.Context())
			wanted := long/4 + time.Millisecond // the heartbeat has begun
			time.AfterFunc(wanted, func() { cancel(ErrStdinClosed) })
			h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: ctx, clock: clk}, Timeout: Forever, ReleaseTimeout: ReleaseTimeout, Log: hclog.NewNullLogger(),
				Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: long}, Clock: clk}}
			_, err := h.Run()
			if took := clk.Now() - wanted; took > c.limit+time.Second || err == nil != (c.code == "") || err != nil && CodeOf(err) != c.code {
				t.Errorf("each call to the server hangs for %v: Run returns %v %v after the client let go; want code %q within %v", hangs, err, took, c.code, c.limit+time.Second)
			}
			time.Sleep(2 * long)
		})
	}
}

// slowRelease is a place where each release takes a while, unless its context ends before.
type slowRelease struct {
	*world
	takes time.Duration
}

func (w slowRelease) Release(ctx context.Context) error {
	select {
	case <-time.After(w.takes):
		return w.world.Release(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestReleaseAfterLease: a release that begins when the lease is over has time for one try of
// nearly a second (lastTry).
func TestReleaseAfterLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk := &jumpingClock{start: clock.Runtime{}.Now()}
		clk.ahead.Add(int64(lease)) // confirmed is 0
		w := slowRelease{&world{clock: clk, inside: true}, lastTry / 2}
		h := &Helper{Address: "fake:/x", Client: &fakeClient{ctx: t.Context(), clock: clk}, ReleaseTimeout: ReleaseTimeout, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Lease: lease}, Clock: clk}}
		err := h.session(w, 0).release()
		if err != nil || w.inside {
			t.Errorf("the lease is over, and a release takes %v: release returns %v, and the lock is there: %v; want no error, and no lock: look at lastTry (release.go)", w.takes, err, w.inside)
		}
	})
}

// TestDenied: a release that is not allowed is not tried for the rest of a long lease.
func TestDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: clk, releaseErr: func(int) error {
			return &backend.Error{Code: protocol.Permission, Lock: "fake:/x", Op: "remove", Err: errServer}
		}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(ErrStdinClosed)
		h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: ctx, clock: clk}, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: time.Hour}, Clock: clk}}
		err := h.session(w, 0).release()
		if loss := asLoss(err); loss == nil || loss.Code != protocol.Unreleased || clk.Now() > 2*deniedTime {
			t.Errorf("a release that is not allowed returns %v after %v, want code %s within %v", err, clk.Now(), protocol.Unreleased, 2*deniedTime)
		}
	})
}

// TestReleaseInMidHeartbeat: a hung heartbeat does not hold up the release.
func TestReleaseInMidHeartbeat(t *testing.T) {
	live(t, lease/4+time.Second, Forever, func(w *world, _ *fakeClient) { w.beatTakes = time.Hour },
		func(w *world, g *fakeClient, held time.Duration, err error) {
			if err != nil || held != lease/4+time.Second || w.inside {
				t.Errorf("while a heartbeat hangs, Run returns %v after %v, and the lock is there: %v; want a release after %v", err, held, w.inside, lease/4+time.Second)
			}
		})
}

func TestReleaseFails(t *testing.T) {
	fail := func(until int, with error) func(*world, *fakeClient) {
		return func(w *world, _ *fakeClient) {
			w.releaseErr = func(n int) error {
				if n < until {
					return with
				}
				return nil
			}
		}
	}
	live(t, time.Second, Forever, fail(5, errServer), func(w *world, g *fakeClient, _ time.Duration, err error) {
		if err != nil || w.releases != 5 || w.inside {
			t.Errorf("four releases fail: Run returns %v after %d releases, and the lock is there: %v; want a fifth that works", err, w.releases, w.inside)
		}
	})
	// A lock of a set left one behind, but it answered us.
	live(t, time.Second, Forever, fail(3, backend.ErrNoAnswer), func(w *world, g *fakeClient, _ time.Duration, err error) {
		if err != nil || w.releases != 3 || w.inside {
			t.Errorf("two releases get no answer: Run returns %v after %d releases, and the lock is there: %v; want a third that works", err, w.releases, w.inside)
		}
	})
	live(t, time.Second, Forever, fail(1e9, errServer), func(w *world, g *fakeClient, _ time.Duration, err error) {
		if CodeOf(err) != protocol.Unreleased || g.lost == nil || w.clock.Now() < lease*9/10 || w.clock.Now() > lease {
			t.Fatalf("all releases fail: Run returns %v after %v, and told the client of the loss %v; want code %s at the end of the lease, %v", err, w.clock.Now(), g.lost, protocol.Unreleased, lease)
		}
		if !strings.Contains(err.Error(), "frees itself") {
			t.Errorf("the error of a release that failed is %q, want that the lock frees itself", err)
		}
	})
	live(t, time.Second, Forever, fail(1e9, backend.ErrGone), func(w *world, g *fakeClient, _ time.Duration, err error) {
		if CodeOf(err) != protocol.Gone || w.releases != 1 || g.lost == nil {
			t.Errorf("the lock is gone at its release: Run returns %v after %d releases, and told the client of the loss %v; want code %s after one", err, w.releases, g.lost, protocol.Gone)
		}
	})
}
