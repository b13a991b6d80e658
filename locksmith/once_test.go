package locksmith

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/protocol"
)

// A fakeKeeper keeps the successes of a world's lock.
type fakeKeeper struct {
	w                *world
	last             *backend.Success
	lastErr, lateErr error
	takes            time.Duration
	gone             bool // when it records, it finds that the lock is gone
	recorded         int
}

// OnShelf implements shelf.Keeper.
func (k *fakeKeeper) OnShelf(_ context.Context, _ backend.Hold, use func(shelf.Shelf) error) error {
	return use(fakeShelf{k: k})
}

type fakeShelf struct {
	shelf.Shelf
	k *fakeKeeper
}

func (s fakeShelf) Now(context.Context) (time.Time, error) {
	s.k.w.clock.Sleep(s.k.takes)
	return time.Unix(1e9, 0), s.k.lastErr
}

func (s fakeShelf) List(context.Context) ([]shelf.Slip, error) {
	if s.k.last == nil {
		return nil, nil
	}
	return []shelf.Slip{{Name: "done", Number: 1, At: time.Unix(1e9, 0).Add(-s.k.last.Ago)}}, nil
}

func (s fakeShelf) Read(context.Context, string, *shelf.Slip) error { return nil }

func (s fakeShelf) Write(context.Context, string, *shelf.Slip) error {
	if s.k.gone {
		return backend.ErrGone
	}
	s.k.recorded++
	return s.k.lateErr
}

// TestOnce: only a recent success keeps the client from being told of the lock. A success is
// recorded before the lock is released, if the lock was held to the end.
func TestOnce(t *testing.T) {
	ago := func(d time.Duration) func(*fakeKeeper) {
		return func(k *fakeKeeper) { k.last = &backend.Success{Ago: d} }
	}
	for name, c := range map[string]struct {
		change   func(*fakeKeeper)
		fails    bool
		code     protocol.Code // "": it was done
		recorded int
	}{
		"never before":        {func(*fakeKeeper) {}, false, "", 1},
		"it fails":            {func(*fakeKeeper) {}, true, "", 0},
		"just now":            {ago(0), false, protocol.Recent, 0},
		"a moment too soon":   {ago(time.Hour - 1), false, protocol.Recent, 0},
		"long enough ago":     {ago(time.Hour), false, "", 1},
		"in the future":       {ago(-1), false, "", 1},
		"it cannot be told":   {func(k *fakeKeeper) { k.lastErr = errServer }, false, protocol.Internal, 0},
		"the place hangs":     {func(k *fakeKeeper) { k.takes = time.Hour }, false, protocol.Unreachable, 0},
		"the place is slow":   {func(k *fakeKeeper) { k.takes = lease / 8 }, false, "", 1},
		"it cannot be put":    {func(k *fakeKeeper) { k.lateErr = errServer }, false, "", 1},
		"the lock is lost":    {func(k *fakeKeeper) { k.w.beatErr = func(int) error { k.w.inside = false; return backend.ErrGone } }, false, protocol.Gone, 0},
		"it is gone by then":  {func(k *fakeKeeper) { k.gone = true }, false, "", 0},
		"it is not released":  {func(k *fakeKeeper) { k.w.releaseErr = func(int) error { return errServer } }, false, protocol.Unreleased, 1},
		"nor after no second": {func(k *fakeKeeper) { ago(0)(k); k.w.releaseErr = func(int) error { return errServer } }, false, protocol.Unreleased, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clk := &jumpingClock{start: clock.Runtime{}.Now()}
				w := &world{clock: clk}
				k := &fakeKeeper{w: w}
				c.change(k)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				time.AfterFunc(lease*7/16, func() { cancel(ErrStdinClosed) })
				g := &fakeClient{ctx: ctx, clock: clk}
				var log bytes.Buffer
				h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Error}),
					Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: clk},
					Once:    &Once{Per: time.Hour, Keeper: k, Succeeded: func() bool { return !c.fails }}}
				_, err := h.Run()
				if k.takes == time.Hour {
					time.Sleep(2 * time.Hour) // what was left behind comes to its end
				}
				synctest.Wait()
				code := protocol.Code("")
				if err != nil {
					code = CodeOf(err)
				}
				if code != c.code || k.recorded != c.recorded {
					t.Errorf("Run returns %v and has recorded %d successes; want code %q and %d successes", err, k.recorded, c.code, c.recorded)
				}
				started := c.code == "" || c.code == protocol.Gone || name == "it is not released"
				if slices.Contains(g.log, "start") != started {
					t.Errorf("the client was told %v; that it may start: want %v", g.log, started)
				}
				if lost := asLoss(err) != nil; strings.Contains(log.String(), "code=") != lost {
					t.Errorf("Run returns %v; a loss must be in the log, and nothing else; it is %q", err, &log)
				}
				var recent *RecentError
				if errors.As(err, &recent) != (c.code == protocol.Recent) || w.inside && w.releaseErr == nil && k.takes < time.Hour {
					t.Errorf("Run returns %v, want a RecentError: %v; at its end the lock is there: %v", err, c.code == protocol.Recent, w.inside)
				}
			})
		})
	}
}
