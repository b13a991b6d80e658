package locksmith

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/locksmith/events"
	"locksmith/protocol"
)

const lease = time.Minute

var errServer = errors.New("server says no")

// world is a fake backend, its one attempt and its one hold, on fake time.
type world struct {
	clock      *jumpingClock
	heldFor    time.Duration // how long somebody else holds it, from the start
	tryErr     error
	cutOff     bool // a try lasts until its context ends
	tryTakes   time.Duration
	slowTries  int               // how many tries take tryTakes; 0: all
	beatErr    func(n int) error // the n-th heartbeat's error
	beatTakes  time.Duration
	releaseErr func(n int) error
	kept       bool          // the system keeps the lock for a process that lives
	awayUntil  time.Duration // until then its place does not answer, once the lock was taken
	note       func(context.Context) (*owner.Note, error)

	wishes int // how many attempts there are in the end; 0: one

	beats, releases, taken, withdrawals int
	inside                              bool
}

func (w *world) Attempt(backend.Request) (backend.Attempt, error) { return w, nil }

func (w *world) Try(ctx context.Context) (backend.Hold, error) {
	if w.cutOff {
		<-ctx.Done()
		return nil, &backend.Error{Code: protocol.Unreachable, Lock: "fake:/x", Op: "ask", Err: fmt.Errorf("connect: %w", ctx.Err())}
	}
	if w.slowTries == 0 || w.taken < w.slowTries {
		w.clock.Sleep(w.tryTakes)
	}
	if w.tryErr != nil {
		return nil, w.tryErr
	}
	if w.taken > 0 && w.clock.Now() < w.awayUntil {
		return nil, &backend.Error{Code: protocol.Unreachable, Lock: "fake:/x", Op: "ask", Err: errServer}
	}
	if w.clock.Now() < w.heldFor {
		return nil, &backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 4242}}
	}
	w.inside = true
	w.taken++
	return w, nil
}

func (w *world) Wait(ctx context.Context) error {
	timer := w.clock.NewTimer(w.heldFor - w.clock.Now())
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *world) Withdraw(context.Context) error { w.withdrawals++; return nil }
func (w *world) ID() string                     { return "id" }
func (w *world) Token() uint64                  { return 7 }
func (w *world) Kept() bool                     { return w.kept }
func (w *world) Tend(context.Context) error     { return nil }

// OnShelf implements shelf.Keeper: there is a note, if there is one.
func (w *world) OnShelf(_ context.Context, _ backend.Hold, use func(shelf.Shelf) error) error {
	return use(noteShelf{w: w})
}

type noteShelf struct {
	shelf.Shelf
	w *world
}

func (s noteShelf) Read(ctx context.Context, _ string, slip *shelf.Slip) error {
	if s.w.note == nil {
		return nil
	}
	n, err := s.w.note(ctx)
	if err == nil {
		slip.Text, err = n.Format()
	}
	return err
}

// Lend implements backend.KeptHold.
func (w *world) Lend() ([]int, error) { return nil, nil }

func (w *world) Heartbeat(ctx context.Context) error {
	w.beats++
	if w.beatTakes > 0 {
		timer := w.clock.NewTimer(w.beatTakes)
		select {
		case <-timer.C():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if w.beatErr != nil {
		return w.beatErr(w.beats)
	}
	return nil
}

// releasing explains, for a failure, why the lock is or is not there at the end.
func (w *world) releasing() string {
	return fmt.Sprintf("it was taken %d times, got %d heartbeats and was asked to go %d times, which release (release.go) does until it has gone, but not once a heartbeat says so", w.taken, w.beats, w.releases)
}

func (w *world) Release(context.Context) error {
	w.releases++
	if w.releaseErr != nil {
		if err := w.releaseErr(w.releases); err != nil {
			return err
		}
	}
	w.inside = false
	return nil
}

// jumpingClock is fake time that can leap, as it does for a process that was stopped: its timers
// come due late.
type jumpingClock struct {
	clock.Runtime
	start time.Duration
	ahead atomic.Int64 // nanoseconds
}

func (c *jumpingClock) Now() time.Duration {
	return c.Runtime.Now() - c.start + time.Duration(c.ahead.Load())
}

func (c *jumpingClock) Sleep(d time.Duration) { time.Sleep(d) }

// fakeClient is a fake parent.
type fakeClient struct {
	ctx      context.Context
	clock    clock.Clock
	startErr error
	log      []string
	lost     *LossError
	lostAt   time.Duration
	events   *eventList // nil: nobody writes them down
}

func (g *fakeClient) Context() context.Context       { return g.ctx }
func (g *fakeClient) Waiting(err *backend.HeldError) { g.log = append(g.log, "waiting") }
func (g *fakeClient) Beat(time.Duration)             { g.log = append(g.log, "beat") }
func (g *fakeClient) Start(p protocol.Grant) error {
	g.log = append(g.log, "start")
	return g.startErr
}
func (g *fakeClient) Lost(_ context.Context, l *LossError) {
	g.log = append(g.log, "lost")
	g.lost, g.lostAt = l, g.clock.Now()
}

// live runs a helper in fake time; the parent goes away after wanted.
func live(t *testing.T, wanted, timeout time.Duration, change func(*world, *fakeClient), check func(*world, *fakeClient, time.Duration, error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: c}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		timer := time.AfterFunc(wanted, func() { cancel(ErrStdinClosed) })
		defer timer.Stop()
		g := &fakeClient{ctx: ctx, clock: c}
		if change != nil {
			change(w, g)
		}
		h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: timeout, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: c}}
		finish := g.events.follow(h)
		held, err := h.Run()
		finish(held, err)
		// Calls that were left behind come to their end, while our clock stands still.
		time.Sleep(2 * time.Hour)
		c.ahead.Add(-int64(2 * time.Hour))
		synctest.Wait()
		if got := w.taken + w.withdrawals; got != max(w.wishes, 1) {
			t.Errorf("the lock was taken %d times and the wish withdrawn %d times; want %d in all: each attempt ends in one of the two", w.taken, w.withdrawals, max(w.wishes, 1))
		}
		check(w, g, held, err)
	})
}

func TestHoldAndRelease(t *testing.T) {
	live(t, 5*time.Minute, Forever, nil, func(w *world, g *fakeClient, held time.Duration, err error) {
		if err != nil || held != 5*time.Minute || w.inside {
			t.Errorf("Run returns %v after holding for %v, and the lock is there: %v; want no error after %v, and a lock that is gone", err, held, w.inside, 5*time.Minute)
		}
		if w.beats < 19 || w.beats > 20 {
			t.Errorf("%d heartbeats in five leases, want one each quarter", w.beats)
		}
		if g.log[0] != "start" || slices.Contains(g.log, "lost") {
			t.Errorf("the client was told %v, want start first, and of no loss", g.log)
		}
	})
}

func TestWaiting(t *testing.T) {
	heldFor := func(d time.Duration) func(*world, *fakeClient) {
		return func(w *world, _ *fakeClient) { w.heldFor = d }
	}
	t.Run("until free", func(t *testing.T) {
		live(t, time.Hour, Forever, heldFor(time.Minute), func(w *world, g *fakeClient, held time.Duration, err error) {
			if err != nil || held != 59*time.Minute || g.log[0] != "waiting" {
				t.Errorf("Run returns %v after holding for %v, and told the client %v; want no error after 59m0s, and waiting first", err, held, g.log)
			}
		})
	})
	t.Run("one try", func(t *testing.T) {
		live(t, time.Hour, 0, heldFor(time.Minute), func(w *world, g *fakeClient, _ time.Duration, err error) {
			if CodeOf(err) != protocol.Held || w.clock.Now() != 0 {
				t.Errorf("one try at a held lock: Run returns %v after %v, want code %s at once", err, w.clock.Now(), protocol.Held)
			}
		})
	})
	t.Run("timeout", func(t *testing.T) {
		live(t, time.Hour, 10*time.Second, heldFor(time.Minute), func(w *world, g *fakeClient, _ time.Duration, err error) {
			var held *backend.HeldError
			if CodeOf(err) != protocol.Timeout || !errors.As(err, &held) || w.clock.Now() != 10*time.Second {
				t.Errorf("a timeout of 10s: Run returns %v after %v, want a HeldError with code %s after 10s", err, w.clock.Now(), protocol.Timeout)
			}
		})
	})
	t.Run("parent goes", func(t *testing.T) {
		live(t, 10*time.Second, Forever, heldFor(time.Minute), func(w *world, g *fakeClient, _ time.Duration, err error) {
			var held *backend.HeldError
			if CodeOf(err) != protocol.Cancelled || !errors.Is(err, ErrStdinClosed) || !errors.As(err, &held) || w.clock.Now() != 10*time.Second {
				t.Errorf("the parent goes after 10s: Run returns %v after %v, want code %s, with the holder, after 10s", err, w.clock.Now(), protocol.Cancelled)
			}
		})
	})
	t.Run("parent goes during the try that gets it", func(t *testing.T) {
		for _, takes := range []time.Duration{10 * time.Second, 5*time.Second + answerTime/2} { // left behind; awaited
			live(t, 5*time.Second, Forever, func(w *world, _ *fakeClient) { w.tryTakes = takes },
				func(w *world, g *fakeClient, _ time.Duration, err error) {
					if d := w.clock.Now(); d > 5*time.Second+answerTime {
						t.Errorf("the parent goes after 5s: Run returns after %v, want %v at most", d, 5*time.Second+answerTime)
					}
					if CodeOf(err) != protocol.Cancelled || w.taken != 1 || w.inside || len(g.log) != 0 {
						t.Errorf("Run returns %v after %d acquisitions, told the client %v, and the lock is there: %v; want code %s after one, nothing told, and a lock that is gone", err, w.taken, g.log, w.inside, protocol.Cancelled)
					}
				})
		}
	})
	t.Run("a try that is cut off", func(t *testing.T) {
		for _, timeout := range []time.Duration{0, 10 * time.Second} {
			live(t, time.Hour, timeout, func(w *world, _ *fakeClient) { w.cutOff = true },
				func(_ *world, g *fakeClient, _ time.Duration, err error) {
					if CodeOf(err) != protocol.Unreachable || strings.Contains(err.Error(), "context") || len(g.log) != 0 {
						t.Errorf("with a timeout of %v Run returns %v, and told the client %v; want code %s, nothing told, and no word of contexts", timeout, err, g.log, protocol.Unreachable)
					}
				})
		}
	})
	t.Run("a place that hangs", func(t *testing.T) {
		for timeout, limit := range map[time.Duration]time.Duration{0: lease, 10 * time.Second: 10 * time.Second} {
			live(t, time.Hour, timeout, func(w *world, _ *fakeClient) { w.tryTakes = time.Hour / 2 },
				func(w *world, g *fakeClient, _ time.Duration, err error) {
					if d := w.clock.Now(); CodeOf(err) != protocol.Unreachable || d > limit+answerTime {
						t.Errorf("with a timeout of %v Run returns %v after %v, want code %s after %v at most", timeout, err, d, protocol.Unreachable, limit+answerTime)
					}
					if w.inside || len(g.log) != 0 {
						t.Errorf("the lock came after the helper had given up: it is there: %v, and the client was told %v; want neither", w.inside, g.log)
					}
				})
		}
	})
}

// pollingWorld is a world in which a waiter asks every second, or sleeps until it is woken.
type pollingWorld struct {
	*world
	sleeps bool
	tries  int
}

func (w *pollingWorld) Attempt(backend.Request) (backend.Attempt, error) { return w, nil }

func (w *pollingWorld) Try(ctx context.Context) (backend.Hold, error) {
	w.tries++
	return w.world.Try(ctx)
}

func (w *pollingWorld) Wait(ctx context.Context) error {
	if w.sleeps {
		<-ctx.Done()
		return ctx.Err()
	}
	w.clock.Sleep(time.Second)
	return nil
}

// TestTries: a limit of tries holds whatever the time, and even though nothing wakes the waiter.
func TestTries(t *testing.T) {
	for _, c := range []struct {
		tries  int
		sleeps bool
	}{{1, false}, {3, false}, {20, true}} {
		sleeps, tries := c.sleeps, c.tries
		synctest.Test(t, func(t *testing.T) {
			c := clock.Runtime{}
			w := &pollingWorld{world: &world{clock: &jumpingClock{start: c.Now()}, heldFor: time.Hour}, sleeps: sleeps}
			g := &fakeClient{ctx: t.Context(), clock: w.clock}
			h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, Tries: tries, Log: hclog.NewNullLogger(),
				Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: w.clock}}
			_, err := h.Run()
			var held *backend.HeldError
			if CodeOf(err) != protocol.Timeout || !errors.As(err, &held) || w.tries != tries || w.withdrawals != 1 {
				t.Errorf("Run returns %v after %d tries and %d withdrawals, want code %s with the holder after %d tries and one withdrawal", err, w.tries, w.withdrawals, protocol.Timeout, tries)
			}
		})
	}
}

// TestRefresh: heartbeats come as often as asked, but at least every quarter of the
// lease.
func TestRefresh(t *testing.T) {
	for refresh, beats := range map[time.Duration]int{0: 4, lease / 10: 10, lease: 4} {
		synctest.Test(t, func(t *testing.T) {
			c := &jumpingClock{start: clock.Runtime{}.Now()}
			w := &world{clock: c}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(lease+lease/100, func() { cancel(ErrStdinClosed) })
			h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: ctx, clock: c}, Timeout: Forever, Refresh: refresh, Log: hclog.NewNullLogger(),
				Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: c}}
			if _, err := h.Run(); err != nil || w.beats != beats {
				t.Errorf("refresh %v: %v, %d heartbeats in a lease, want %d", refresh, err, w.beats, beats)
			}
		})
	}
}

// deafWorld is a world on a dead server: its heartbeats heed no context.
type deafWorld struct {
	*world
	t *testing.T
	// busy: a call is under way.
	busy atomic.Bool
}

func (w *deafWorld) Attempt(backend.Request) (backend.Attempt, error) { return w, nil }

func (w *deafWorld) Try(ctx context.Context) (backend.Hold, error) {
	_, err := w.world.Try(ctx)
	return w, err
}

func (w *deafWorld) Heartbeat(context.Context) error {
	defer w.alone()()
	w.clock.Sleep(w.beatTakes)
	return errServer
}

func (w *deafWorld) Release(ctx context.Context) error {
	defer w.alone()()
	return w.world.Release(ctx)
}

func (w *deafWorld) alone() (end func()) {
	if w.busy.Swap(true) {
		w.t.Error("two calls at a time")
	}
	return func() { w.busy.Store(false) }
}

func TestStartFails(t *testing.T) {
	live(t, time.Hour, Forever, func(_ *world, g *fakeClient) { g.startErr = errServer },
		func(w *world, g *fakeClient, _ time.Duration, err error) {
			if !errors.Is(err, errServer) || w.inside {
				t.Errorf("the client cannot start its work: Run returns %v, and the lock is there: %v; want the client's error, and a lock that is gone", err, w.inside)
			}
		})
}

// TestSlowTry: a reply that took long leaves little of the lease, so the lease is renewed before
// anybody works by it.
func TestSlowTry(t *testing.T) {
	live(t, 70*time.Second, Forever, func(w *world, _ *fakeClient) { w.tryTakes = lease * 7 / 8 },
		func(w *world, g *fakeClient, _ time.Duration, err error) {
			// The heartbeat came before, but nobody is told before OK.
			if err != nil || w.beats != 2 || !slices.Equal(g.log, []string{"start", "beat"}) {
				t.Errorf("Run returns %v after %d heartbeats, and told the client %v; want no error, one heartbeat before the start and one after", err, w.beats, g.log)
			}
		})
	live(t, time.Hour, Forever, func(w *world, _ *fakeClient) { w.tryTakes, w.wishes = lease, backend.MaxLate },
		func(w *world, g *fakeClient, _ time.Duration, err error) {
			// Nobody was told of the lock, so this is a refusal, not a loss.
			if CodeOf(err) != protocol.Unreachable || w.inside || len(g.log) != 0 {
				t.Errorf("each try takes a lease: Run returns %v, told the client %v, and the lock is there: %v; want code %s, nothing told, and no lock", err, g.log, w.inside, protocol.Unreachable)
			}
		})
	live(t, time.Hour, Forever, func(w *world, _ *fakeClient) { w.tryTakes, w.beatTakes, w.wishes = lease/4, lease/2, backend.MaxLate },
		func(w *world, g *fakeClient, _ time.Duration, err error) {
			// The heartbeat is cut off, as another connection may be faster.
			if CodeOf(err) != protocol.Unreachable || w.inside || len(g.log) != 0 {
				t.Errorf("the heartbeat before OK takes half a lease: Run returns %v, told the client %v, and the lock is there: %v; want code %s, nothing told, and no lock", err, g.log, w.inside, protocol.Unreachable)
			}
		})
}

// TestStall: a helper that was stopped while it got the lock gives the lock back, and waits again
// for as long as its timeout allows. If it is stopped each time, it ends.
func TestStall(t *testing.T) {
	const slow = lease + lease/10
	for name, c := range map[string]struct {
		timeout time.Duration
		slow    int // tries
		wishes  int
		held    bool
		code    protocol.Code
		at      time.Duration
	}{
		"once":                      {3 * time.Minute, 1, 2, true, "", 0},
		"twice":                     {10 * time.Minute, 2, 3, true, "", 0},
		"always":                    {time.Hour, 0, 3, false, protocol.Unreachable, 3 * slow},
		"until the timeout is over": {slow + time.Minute, 0, 2, false, protocol.Unreachable, slow + time.Minute + answerTime},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, 2*time.Hour, c.timeout, func(w *world, _ *fakeClient) { w.tryTakes, w.slowTries, w.wishes = slow, c.slow, c.wishes },
				func(w *world, g *fakeClient, held time.Duration, err error) {
					if c.held {
						if err != nil || held == 0 || g.log[0] != "start" || w.taken != c.wishes {
							t.Errorf("Run returns %v after holding for %v and taking the lock %d times, and told the client %v; want that the work starts with take number %d", err, held, w.taken, g.log, c.wishes)
						}
						return
					}
					if at := w.clock.Now(); CodeOf(err) != c.code || at != c.at || w.inside || len(g.log) != 0 {
						t.Errorf("Run returns %v after %v, the lock is there: %v, and the client was told %v; want code %s after %v, no lock, and nothing told", err, at, w.inside, g.log, c.code, c.at)
					}
					if c.timeout == time.Hour && !strings.Contains(err.Error(), "too slow for the lease") {
						t.Errorf("the error is %v, want that the place is too slow for the lease", err)
					}
				})
		})
	}
}

// TestOneLateTry: a helper that tries only once ends when its lock came too late.
func TestOneLateTry(t *testing.T) {
	live(t, time.Hour, 0, func(w *world, _ *fakeClient) { w.tryTakes, w.beatTakes = lease*7/8, lease/2 },
		func(w *world, g *fakeClient, _ time.Duration, err error) {
			if CodeOf(err) != protocol.Unreachable || !strings.Contains(err.Error(), "too slow for the lease") || w.inside || w.taken != 1 {
				t.Errorf("Run returns %v after taking the lock %d times, and it is there: %v; want code %s and \"too slow for the lease\" after one, and no lock", err, w.taken, w.inside, protocol.Unreachable)
			}
		})
}

// TestLateAndStuck: a lock that came too late and cannot be given back ends the wait at once. A
// helper that waited again would wait for itself.
func TestLateAndStuck(t *testing.T) {
	live(t, time.Hour, time.Hour, func(w *world, _ *fakeClient) {
		w.tryTakes, w.releaseErr = lease, func(int) error { return errServer }
	}, func(w *world, g *fakeClient, _ time.Duration, err error) {
		if CodeOf(err) != protocol.Unreachable || !strings.Contains(err.Error(), "too slow for the lease") || w.taken != 1 || len(g.log) != 0 {
			t.Errorf("Run returns %v after taking the lock %d times, and told the client %v; want code %s and \"too slow for the lease\" after one, and nothing told", err, w.taken, g.log, protocol.Unreachable)
		}
	})
}

// TestLateAndLeft: a process that has left a lock behind must not serve another acquisition, for while
// it lives the system may keep that lock.
func TestLateAndLeft(t *testing.T) {
	for _, left := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &jumpingClock{start: clock.Runtime{}.Now()}
			w := &world{clock: c, kept: true, tryTakes: lease / 4, beatErr: func(int) error { return errServer }}
			if left {
				w.releaseErr = w.beatErr
			}
			h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: t.Context(), clock: c}, Log: hclog.NewNullLogger(),
				Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: c}}
			if _, err := h.Run(); err == nil || asLoss(err) != nil || w.inside != left || h.LeftBehind() != left {
				t.Errorf("a lock came too late, and is there in the end: %v; Run returns %v, and LeftBehind returns %v, want an error that is no loss, and %v", w.inside, err, h.LeftBehind(), left)
			}
		})
	}
}

// TestMemoryHangs: a home directory on a dead server, where what was seen of others is kept, does not
// keep a waiter from its timeout, nor from a lock that becomes free.
func TestMemoryHangs(t *testing.T) {
	for heldFor, code := range map[time.Duration]protocol.Code{lease: "", time.Hour: protocol.Timeout} {
		synctest.Test(t, func(t *testing.T) {
			c := &jumpingClock{start: clock.Runtime{}.Now()}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(2*lease, func() { cancel(ErrStdinClosed) })
			w := &world{clock: c, heldFor: heldFor}
			var calls atomic.Int64
			never := make(chan struct{})
			h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: ctx, clock: c}, Timeout: 3 * lease / 2, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
				Remember: func() { calls.Add(1); <-never },
				Request:  backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: c}}
			run := detached.GoErr(func() error { _, err := h.Run(); return err })
			time.Sleep(3 * lease)
			if !run.IsBack() || calls.Load() != 1 || !h.LeftBehind() {
				t.Errorf("the lock is held for %v by somebody else, and Remember hangs: Run has returned after %v: %v; %d calls of Remember, and LeftBehind returns %v; want true, 1 and true", heldFor, c.Now(), run.IsBack(), calls.Load(), h.LeftBehind())
			}
			close(never)
			if _, err := run.Result(); code == "" && err != nil || code != "" && CodeOf(err) != code {
				t.Errorf("the lock is held for %v by somebody else, and Remember hangs: Run returns %v, want code %q", heldFor, err, code)
			}
		})
	}
}

// TestTokensStartAgain: a token below one that the user is known to have had is told, and the lock is
// held all the same; also when the file that knows is on a dead server, which nobody hears of.
func TestTokensStartAgain(t *testing.T) {
	const own = 7 // the token of a world
	for _, c := range []struct {
		what   string
		mode   string
		before uint64
		hangs  bool
		told   bool
	}{
		{"none is known", "exclusive", 0, false, false},
		{"the same", "exclusive", own, false, false},
		{"a greater one", "exclusive", 17, false, true},
		{"a greater one, of a lock that is shared", "shared", 17, false, true},
		{"it hangs", "exclusive", 17, true, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &jumpingClock{start: clock.Runtime{}.Now()}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(2*lease, func() { cancel(ErrStdinClosed) })
				var log bytes.Buffer
				kept := make(chan bool, 2) // and not a variable, for who writes it may hang
				never := make(chan struct{})
				h := &Helper{Address: "fake:/x", Locker: &world{clock: fake}, Client: &fakeClient{ctx: ctx, clock: fake}, ReleaseTimeout: time.Minute,
					Log: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn}),
					KnownToken: func(lock string, token uint64, keep bool) (uint64, string, error) {
						kept <- keep
						if c.hangs {
							<-never
						}
						return c.before, "/home/x/file", nil
					},
					Request: backend.Request{Owner: owner.Record{Mode: c.mode, Lease: lease}, Clock: fake}}
				held, err := h.Run()
				close(never)
				if err != nil || held != 2*lease || h.LeftBehind() != c.hangs {
					t.Errorf("Run returns %v after holding for %v, and LeftBehind returns %v; want no error after %v, and %v", err, held, h.LeftBehind(), 2*lease, c.hangs)
				}
				if n := len(kept); n != 1 || <-kept != (c.mode == "exclusive") {
					t.Errorf("it was asked %d times, want once, and to remember the token if nobody shares the lock", n)
				}
				text := log.String()
				if told := strings.Count(text, "\n") == 1 && strings.Contains(text, "token=7 greater=17 file=/home/x/file"); told != c.told || !c.told && text != "" {
					t.Errorf("the log says %q", text)
				}
			})
		})
	}
}

// A slowStart is a command that takes its time to start, as from a dead disk.
type slowStart struct {
	fakeClient
	takes   time.Duration
	started func()
}

func (c *slowStart) Start(g protocol.Grant) error {
	c.clock.(*jumpingClock).Sleep(c.takes)
	c.started()
	return c.fakeClient.Start(g)
}

// TestSlowStart: a command that takes longer than the lease to start has the lock when it has started.
// If the lock was lost meanwhile, the command is told so at once.
func TestSlowStart(t *testing.T) {
	const takes = 2*lease + lease/5
	for _, lost := range []bool{false, true} {
		for _, startErr := range []error{nil, errServer} {
			synctest.Test(t, func(t *testing.T) {
				clk := &jumpingClock{start: clock.Runtime{}.Now()}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*lease, func() { cancel(ErrStdinClosed) })
				w := &world{clock: clk}
				var last atomic.Int64 // when the last heartbeat succeeded
				w.beatErr = func(n int) error {
					if lost && n > 1 {
						w.inside = false
						return backend.ErrGone
					}
					last.Store(int64(clk.Now()))
					return nil
				}
				g := &slowStart{fakeClient: fakeClient{ctx: ctx, clock: clk, startErr: startErr}, takes: takes, started: func() {
					if age := clk.Now() - time.Duration(last.Load()); age > lease/2 && !lost {
						t.Errorf("when the command has started, the last heartbeat was %v ago, and the lease is %v", age, lease)
					}
				}}
				h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
					Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: clk}}
				_, err := h.Run()
				switch loss := asLoss(err); {
				case startErr != nil:
					if !errors.Is(err, startErr) || g.lost != nil || w.inside {
						t.Errorf("the command could not be started: Run returns %v, tells of the loss %v, and the lock is there: %v", err, g.lost, w.inside)
					}
				case lost:
					if loss == nil || loss.Code != protocol.Gone || g.lostAt != takes {
						t.Errorf("the lock was lost while the command started: Run returns %v, and tells of the loss %v after %v, want code %s after %v", err, g.lost, g.lostAt, protocol.Gone, takes)
					}
				case err != nil || g.lost != nil || w.inside:
					t.Errorf("the command started after %v: Run returns %v, tells of the loss %v, and the lock is there: %v", takes, err, g.lost, w.inside)
				}
			})
		}
	}
}

// A carefulStart is a slowStart that can be called off.
type carefulStart struct {
	slowStart
	off atomic.Pointer[LossError]
}

func (c *carefulStart) CallOff(loss *LossError) { c.off.Store(loss) }

func (c *carefulStart) Start(g protocol.Grant) error {
	c.clock.(*jumpingClock).Sleep(c.takes)
	if loss := c.off.Load(); loss != nil {
		return &CancelledError{Lock: g.Lock, Cause: loss}
	}
	return c.slowStart.Start(g)
}

// TestStartCalledOff: a command does not begin if its lock was lost while it started. Nobody is told of
// a loss, because nobody had the lock.
func TestStartCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: clk}
		w.beatErr = func(int) error { w.inside = false; return backend.ErrGone }
		c := &carefulStart{slowStart: slowStart{fakeClient: fakeClient{ctx: t.Context(), clock: clk}, takes: lease, started: func() { t.Error("the command begins after the loss of its lock") }}}
		h := &Helper{Address: "fake:/x", Locker: w, Client: c, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: clk}}
		r := h.Record(nowhere{}, "") // which passes it on
		held, err := h.Run()
		r.Finish(held, err)
		if err == nil || asLoss(err) != nil || c.lost != nil {
			t.Errorf("Run returns %v, and tells of the loss %v; want an error, and no loss", err, c.lost)
		}
	})
}

// TestStartTakesTooLong: the time of MaxHold counts while the command starts, though all heartbeats
// succeed.
func TestStartTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: clk}
		c := &carefulStart{slowStart: slowStart{fakeClient: fakeClient{ctx: t.Context(), clock: clk}, takes: 3 * lease, started: func() { t.Error("the command begins when the time of its lock is over") }}}
		h := &Helper{Address: "fake:/x", Locker: w, Client: c, Timeout: Forever, ReleaseTimeout: time.Minute, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease, MaxHold: lease}, Clock: clk}}
		_, err := h.Run()
		if CodeOf(err) != protocol.MaxHold || w.inside {
			t.Errorf("a command takes %v to start, and may have the lock for %v: Run returns %v, and at its end the lock is there: %v; want code %s, and no lock", 3*lease, lease, err, w.inside, protocol.MaxHold)
		}
	})
}

// nowhere stores no events.
type nowhere struct{}

func (nowhere) Write(events.Event) error { return nil }

// TestLateAtADeadPlace: a place that gave a lock, though too late, has answered. So if the place
// does not answer after that, a helper that waits without a limit bears it for longer than a
// lease.
func TestLateAtADeadPlace(t *testing.T) {
	live(t, 9*lease, Forever, func(w *world, _ *fakeClient) { w.tryTakes, w.slowTries, w.wishes, w.awayUntil = lease, 1, 2, 4*lease },
		func(w *world, g *fakeClient, _ time.Duration, err error) {
			if err != nil || w.taken != 2 {
				t.Errorf("Run returns %v after taking the lock %d times, and told the client %v; want no error: the second lock comes in time", err, w.taken, g.log)
			}
		})
}

func TestLosses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world, *fakeClient)
		code   protocol.Code
		at     time.Duration
	}{
		"entry gone at the third heartbeat": {func(w *world, _ *fakeClient) {
			w.beatErr = func(n int) error {
				if n == 3 {
					return backend.ErrGone
				}
				return nil
			}
		}, protocol.Gone, lease * 3 / 4},
		"heartbeats fail": {func(w *world, _ *fakeClient) {
			w.beatErr = func(int) error { return errServer }
		}, protocol.Expired, lease * 3 / 4},
		"heartbeats hang": {func(w *world, _ *fakeClient) { w.beatTakes = time.Hour }, protocol.Expired, lease * 3 / 4},
		"heartbeats hang after two": {func(w *world, _ *fakeClient) {
			w.beatErr = func(n int) error {
				if n == 2 {
					w.beatTakes = time.Hour
				}
				return nil
			}
		}, protocol.Expired, lease/2 + lease*3/4},
		"a heartbeat counts from when it was sent": {func(w *world, _ *fakeClient) {
			w.beatTakes = lease / 4
			w.beatErr = func(int) error { w.beatTakes = time.Hour; return nil }
		}, protocol.Expired, lease/4 + lease*3/4},
		"stopped for more than a lease": {func(w *world, _ *fakeClient) {
			time.AfterFunc(lease/8, func() { w.clock.ahead.Add(int64(lease)) })
		}, protocol.Expired, lease + lease/4},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, time.Hour, Forever, c.change, func(w *world, g *fakeClient, _ time.Duration, err error) {
				if CodeOf(err) != c.code || g.lost == nil {
					t.Fatalf("the helper ended with %v, and told the client of the loss %v; want code %s in both", err, g.lost, c.code)
				}
				if g.lostAt < c.at || g.lostAt > c.at+lease/16 {
					t.Errorf("the client was told of the loss %v after the helper began, want %v (the lease is %v): look at lastMoment, beat and checkLease (session.go)", g.lostAt, c.at, lease)
				}
				if name == "stopped for more than a lease" && w.beats != 0 {
					t.Error("it sent a heartbeat before it looked at the clock")
				}
				if isGone := c.code == protocol.Gone; w.inside != isGone {
					t.Errorf("at its end the lock is there: %v, want %v; %s", w.inside, isGone, w.releasing())
				}
			})
		})
	}
}

// TestStoppedButNotTooLong: the helper is late, but the lease is not over and the entry still
// there, so the heartbeat renews the lease.
func TestStoppedButNotTooLong(t *testing.T) {
	live(t, time.Minute, Forever, func(w *world, _ *fakeClient) {
		time.AfterFunc(lease/8, func() { w.clock.ahead.Add(int64(lease * 5 / 8)) })
	}, func(w *world, g *fakeClient, _ time.Duration, err error) {
		if err != nil || w.beats == 0 {
			t.Errorf("a stop of less than a lease: Run returns %v after %d heartbeats, want no error, and a heartbeat that renews the lease", err, w.beats)
		}
	})
}

// TestStoppedButKept: nobody takes this lock by its lease, so the first heartbeat after a stop
// tells whether it is still there. If the heartbeat cannot tell, the lock is lost.
func TestStoppedButKept(t *testing.T) {
	fails := func(w *world) { w.beatErr = func(int) error { return errServer } }
	for name, c := range map[string]struct {
		change        func(*world)
		stops, wanted time.Duration
		code          protocol.Code
	}{
		"there":                    {func(*world) {}, lease / 8, time.Minute, ""},
		"gone":                     {func(w *world) { w.beatErr = func(int) error { return backend.ErrGone } }, lease / 8, time.Minute, protocol.Gone},
		"not to be seen":           {fails, lease / 8, time.Minute, protocol.Expired},
		"hangs":                    {func(w *world) { w.beatTakes = time.Hour }, lease / 8, time.Minute, protocol.Expired},
		"not to be seen before it": {fails, lease * 5 / 16, time.Minute, protocol.Expired},
		"not wanted any more":      {fails, lease / 8, lease / 8, ""},
		"during a heartbeat":       {func(w *world) { w.beatTakes = lease / 8 }, lease * 5 / 16, time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, c.wanted, Forever, func(w *world, _ *fakeClient) {
				w.kept = true
				c.change(w)
				time.AfterFunc(c.stops, func() { w.clock.ahead.Add(int64(5 * lease)) })
			}, func(w *world, g *fakeClient, _ time.Duration, err error) {
				if err == nil != (c.code == "") || err != nil && (CodeOf(err) != c.code || g.lost == nil) {
					t.Errorf("Run returns %v after %d heartbeats, and told the client of the loss %v; want code %q", err, w.beats, g.lost, c.code)
				}
			})
		})
	}
}

// TestFailuresHeal: a few failed heartbeats are no loss.
func TestFailuresHeal(t *testing.T) {
	live(t, 10*time.Minute, Forever, func(w *world, _ *fakeClient) {
		w.beatErr = func(n int) error {
			if n%5 != 0 {
				return errServer
			}
			return nil
		}
	}, func(w *world, g *fakeClient, _ time.Duration, err error) {
		if err != nil {
			t.Error(err)
		}
	})
}

// tidyWorld is a world with housekeeping.
type tidyWorld struct {
	*world
	tends  int
	tended func(context.Context)
}

func (w *tidyWorld) Attempt(backend.Request) (backend.Attempt, error) { return w, nil }

func (w *tidyWorld) Try(ctx context.Context) (backend.Hold, error) {
	_, err := w.world.Try(ctx)
	return w, err
}

func (w *tidyWorld) Tend(ctx context.Context) error {
	w.tends++
	w.tended(ctx)
	return errServer
}

// TestHousekeeping: it happens between heartbeats. Neither its errors nor its hanging cost the
// lock.
func TestHousekeeping(t *testing.T) {
	for name, c := range map[string]struct {
		tended func(context.Context)
		times  int
	}{
		"quick":      {func(context.Context) {}, 5},
		"heeds time": {func(ctx context.Context) { <-ctx.Done() }, 3}, // it is cut off, and then rests
		"hangs":      {func(context.Context) { time.Sleep(time.Hour) }, 1},
		"hangs once": {func(context.Context) { time.Sleep(lease * 3 / 8) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := c
				clk := &jumpingClock{start: clock.Runtime{}.Now()}
				w := &tidyWorld{world: &world{clock: clk}, tended: c.tended}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(lease*11/8, func() { cancel(ErrStdinClosed) })
				g := &fakeClient{ctx: ctx, clock: clk}
				h := &Helper{Address: "fake:/x", Locker: w, Client: g, Timeout: Forever, Log: hclog.NewNullLogger(),
					Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: clk}}
				held, err := h.Run()
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if err != nil || held != lease*11/8 || w.beats != 5 || w.tends != c.times {
					t.Errorf("Run returns %v after holding for %v, with %d heartbeats and %d calls of Tend; want no error after %v, with 5 heartbeats and %d calls", err, held, w.beats, w.tends, lease*11/8, c.times)
				}
			})
		})
	}
}

// TestAgeUnknown: if a holder's age is unknown, it stays unknown as time goes by.
func TestAgeUnknown(t *testing.T) {
	if age := aged(&backend.HeldError{}, 3).Holder.Age; age != 0 {
		t.Errorf("a holder of unknown age is shown with the age %v 3 ns later, want none", age)
	}
	if age := aged(&backend.HeldError{Holder: backend.Holder{Age: 4}}, 3).Holder.Age; age != 7 {
		t.Errorf("a holder of 4 ns is shown with the age %v 3 ns later, want 7 ns", age)
	}
}

// TestHopeless: a helper that would wait for itself is refused at once, unless another lock would do
// that may become free.
func TestHopeless(t *testing.T) {
	h := &Helper{Timeout: Forever, Hopeless: func(h backend.Holder) string {
		if h.Who == "us" {
			return "it is us"
		}
		return ""
	}}
	ours, foreign := &backend.HeldError{Holder: backend.Holder{Who: "us"}}, &backend.HeldError{}
	unseen := &backend.HeldError{Holder: ours.Holder, Obstacle: errors.New("no answer")}
	for about, c := range map[string]struct {
		first  *backend.HeldError
		others []*backend.HeldError
		want   bool
	}{
		"one lock, ours":                 {ours, nil, true},
		"one lock, somebody's":           {foreign, nil, false},
		"both are ours":                  {ours, []*backend.HeldError{ours}, true},
		"the second is somebody's":       {ours, []*backend.HeldError{ours, foreign}, false},
		"the first is somebody's":        {foreign, []*backend.HeldError{ours}, false},
		"the second's place is not seen": {ours, []*backend.HeldError{unseen}, false},
	} {
		refused := *c.first
		refused.Others = c.others
		if err := h.hopeless(&refused); (err != nil) != c.want {
			t.Errorf("%s: hopeless returns %v, want an error: %v", about, err, c.want)
		}
	}
}

// TestNobodyWants: if nobody wants the lock when the helper begins, the helper does not ask for
// it.
func TestNobodyWants(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrStdinClosed)
	c := &jumpingClock{}
	w := &world{clock: c}
	h := &Helper{Address: "fake:/x", Locker: w, Client: &fakeClient{ctx: ctx, clock: c}, Timeout: Forever, Log: hclog.NewNullLogger(),
		Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: c}}
	if _, err := h.Run(); !errors.Is(err, ErrStdinClosed) || CodeOf(err) != protocol.Cancelled || w.taken != 0 {
		t.Errorf("Run returns %v after taking the lock %d times, want ErrStdinClosed with code %s, and no call", err, w.taken, protocol.Cancelled)
	}
}
