package objects

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// request is a request on fake time, by a process whose end nobody can see.
func request() backend.Request {
	r := backendtest.Request()
	r.Owner.Place.Host, r.Clock = "elsewhere", clock.Runtime{}
	return r
}

func attemptIn(t *testing.T, f *fake) *attempt {
	t.Helper()
	a, err := lockIn(f).Attempt(request())
	backendtest.MustWork(t, err)
	return a.(*attempt)
}

// heldAndWanted takes the lock, and returns also an attempt that waits for it.
func heldAndWanted(t *testing.T, f *fake) (backend.Hold, *attempt) {
	t.Helper()
	h, a := backendtest.MustHold(t, attemptIn(t, f)), attemptIn(t, f)
	backendtest.MustBeHeld(t, a)
	return h, a
}

// mustBeTidy makes sure that nothing is left of a free lock.
func mustBeTidy(t *testing.T, f *fake) {
	t.Helper()
	if left := f.leftovers(); len(left) > 0 {
		t.Errorf("the store still has %q, want nothing but the generations that a lock keeps", left)
	}
}

// noAnswer is the error of a request that may or may not have been executed.
func noAnswer() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: "s3://bucket/lock", Op: "ask", Err: errors.New("no answer")}
}

// once calls instead in place of the first request of a kind.
func (f *fake) once(what, prefix string, instead faulty.Hook) {
	f.before = faulty.Once(func(c faulty.Call) bool { return c.Op == what && strings.HasPrefix(c.Name, prefix) }, instead)
}

// TestFaults lets each request in turn have no answer, or another than the store's: a 404 that need
// not be the store's proves nothing, and whoever made a generation has the lock, whatever it was told.
func TestFaults(t *testing.T) {
	lost, stranger := faulty.Fault{Err: noAnswer(), Code: protocol.Unreachable}, faulty.Fault{Err: notFound(), Code: protocol.Unreachable}
	all := []faulty.Fault{lost, lost, lost}
	all[1].Done, all[2].Lasts = true, faulty.Long
	for _, lost.Late = range []int{1, 2, 4, faulty.AtLast} {
		all = append(all, lost)
	}
	for _, op := range []string{"get", "head", "put", "list", "delete"} {
		stranger.Every, stranger.Spares = true, func(c faulty.Call) bool { return c.Op != op }
		all = append(all, stranger)
	}
	// Told of its own success as another's, and refused though there is none.
	refused := faulty.Fault{Err: ErrExists, Every: true, Spares: func(c faulty.Call) bool { return c.Op != "create" }}
	all = append(all, refused, refused)
	all[len(all)-1].Done = true
	faulty.Run(t, []string{"exclusive"}, all, memoryPlace)
}

// TestLeases: after a lease of silence, and by proof at once. A heartbeat that comes so late renews
// nothing, because somebody may be about to remove the reservation.
func TestLeases(t *testing.T) {
	faulty.Leases(t, []string{"exclusive"}, faulty.Pace{Lapses: true, Slack: lease / 3, Pause: lease / 3, Away: []error{noAnswer()}}, memoryPlace)
}

const lease = backendtest.Lease

func memoryPlace(*testing.T) faulty.Place {
	f := newFake()
	return faulty.Place{
		Lock: func(h backendtest.Host, hook faulty.Hook) faulty.Lock {
			l := lockIn(&fake{f.bucket, hook})
			l.Env = owner.Env{NewID: owner.NewID, Judge: h.Judge, Today: time.Now}
			return l
		},
		Left:    f.leftovers,
		Unclear: func(error) bool { return true },
	}
}

// TestBusy: a store that for now reads but does not write ends nobody's waiting, and is not taken
// for a held lock.
func TestBusy(t *testing.T) {
	for _, kind := range []string{"create", "put"} {
		f := newFake()
		h, a := heldAndWanted(t, f)
		backendtest.MustRelease(t, h)
		busy := func(c faulty.Call) error {
			if c.Op == kind {
				return noAnswer()
			}
			return c.Do()
		}
		f.before = busy
		backendtest.MustBeHeld(t, a)
		f.before = nil
		backendtest.MustRelease(t, backendtest.MustHold(t, a))
		f.before = busy
		_, err := attemptIn(t, f).Try(t.Context())
		backendtest.MustFail(t, err, protocol.Unreachable, "no answer")
	}
}

// TestOneLostAnswer: a waiter goes on waiting, whichever request gets no answer. That holds even
// if it knows of no holder, because it holds back for those before it, or because others took
// turns.
func TestOneLostAnswer(t *testing.T) {
	for _, kind := range []string{"create", "put", "get", "head", "list"} {
		for _, queued := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				h, first, a := backendtest.MustHold(t, attemptIn(t, f)), attemptIn(t, f), attemptIn(t, f)
				backendtest.MustBeHeld(t, first)
				time.Sleep(time.Second) // so that it is the first
				backendtest.MustBeHeld(t, a)
				backendtest.MustRelease(t, h)
				if queued {
					backendtest.MustBeHeld(t, a) // nobody holds it, but the first is before us
				}
				backendtest.MustWork(t, first.Withdraw(t.Context()))
				f.once(kind, "", func(faulty.Call) error { return noAnswer() })
				for {
					h, err := a.Try(t.Context())
					if err == nil {
						f.before = nil
						backendtest.MustRelease(t, h)
						return
					}
					if held, ok := errors.AsType[*backend.HeldError](err); !ok || held.Obstacle == nil {
						t.Fatalf("%s without an answer, queued: %v: Try returns %v, want held with an obstacle", kind, queued, err)
					}
					backendtest.MustWork(t, a.Wait(t.Context()))
				}
			})
		}
	}
}

// TestSilentAtFirst: however often the store does not answer, an attempt works afterwards as
// before. Each try says that nothing is known of the lock.
func TestSilentAtFirst(t *testing.T) {
	for _, kind := range []string{"put", "list", "create"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			a := attemptIn(t, f)
			f.before = func(c faulty.Call) error {
				if c.Op == kind {
					return noAnswer()
				}
				return c.Do()
			}
			for try := range 20 {
				_, err := a.Try(t.Context())
				if held, ok := errors.AsType[*backend.HeldError](err); !ok || held.Answered() || !backend.Passes(err) {
					t.Fatalf("%s without an answer, try %d: %v, want that nothing is known of the lock", kind, try, err)
				}
				backendtest.MustWork(t, a.Wait(t.Context()))
			}
			f.before = nil
			backendtest.MustRelease(t, backendtest.MustHold(t, a))
		})
	}
}

// TestNotRemoved: a 404 that need not be the store's does not prove that something was removed.
func TestNotRemoved(t *testing.T) {
	f := newFake()
	h, a := backendtest.MustHold(t, attemptIn(t, f)), attemptIn(t, f)
	f.once("delete", reservationPrefix, func(faulty.Call) error { return notFound() })
	backendtest.MustFail(t, h.Release(t.Context()), protocol.Unreachable, "404")
	backendtest.MustBeHeld(t, a)
	backendtest.MustRelease(t, h)
	backendtest.MustRelease(t, backendtest.MustHold(t, a))
}

// TestMayNotRemove: a user that may not remove objects is told so before it has the lock, and
// leaves nothing that it could not remove. A user that may is tested once only.
func TestMayNotRemove(t *testing.T) {
	f := newFake()
	f.before = func(c faulty.Call) error {
		if c.Op == "delete" {
			return &backend.Error{Code: protocol.Permission, Lock: "s3://bucket/lock", Op: "remove an object", Err: errors.New("the store answers 403")}
		}
		return c.Do()
	}
	a := attemptIn(t, f)
	_, err := a.Try(t.Context())
	backendtest.MustFail(t, err, protocol.Permission, "403")
	backendtest.MustWithdraw(t, a)
	if left := f.keys(); len(left) > 0 {
		t.Errorf("a user that may not remove left objects behind: %q", left)
	}
	f.before = nil
	h, a := heldAndWanted(t, f)
	f.counted()
	backendtest.MustBeHeld(t, a)
	if n := f.counted()["delete"]; n > 0 {
		t.Errorf("a user that may remove is tested again: %d removals", n)
	}
	backendtest.MustRelease(t, h)
}

// TestNoSign: only the store's own word says that there is no heartbeat. Otherwise the sign of
// before would seem unchanged for a whole lease.
func TestNoSign(t *testing.T) {
	for _, what := range []string{"get", "head"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			h := backendtest.MustHold(t, attemptIn(t, f)).(*hold)
			w := watch.NewOthers(request(), lockIn(f).see)
			_, err := w.Look(t.Context(), h.Mine.ticket)
			backendtest.MustWork(t, err)
			time.Sleep(40 * time.Second)
			backendtest.MustStillHold(t, h)
			time.Sleep(40 * time.Second)
			f.once(what, beatPrefix, func(faulty.Call) error { return notFound() })
			if s, err := w.Look(t.Context(), h.Mine.ticket); err == nil && s.Due == 0 {
				t.Errorf("after a 404 to %s a holder may be broken 40 s after its last heartbeat, want no sooner than after its lease", what)
			}
		})
	}
}

// TestContradiction: a store that lists the holder's reservation, and then says that there is
// none, is asked again. If the holder let go between the two, that costs no more than this.
func TestContradiction(t *testing.T) {
	f := newFake()
	h, a := backendtest.MustHold(t, attemptIn(t, f)), attemptIn(t, f)
	f.once("get", reservationPrefix, func(faulty.Call) error { return ErrAbsent })
	backendtest.MustBeHeld(t, a)
	backendtest.MustStillHold(t, h)
	backendtest.MustWithdraw(t, a)
	b := attemptIn(t, f)
	f.once("get", generationPrefix, func(c faulty.Call) error {
		backendtest.MustRelease(t, h)
		return c.Do()
	})
	f.counted()
	backendtest.MustRelease(t, backendtest.MustHold(t, b))
	if n := f.counted()["list"]; n != 3 {
		t.Errorf("%d listings for a holder that let go in between, want 3", n)
	}
}

// TestInspectBesideHandover: the holder lets go before a request of a look, in turn, and who has
// waited for it gets the lock, at once or a request later. The look names one of the two as holder.
func TestInspectBesideHandover(t *testing.T) {
	for gap := range 2 {
		for request, over := 1, false; !over; request++ {
			f := newFake()
			first, next := heldAndWanted(t, f)
			var second backend.Hold
			requests := 0
			look := hookedStore{f, func() {
				if requests++; requests == request {
					backendtest.MustRelease(t, first)
				}
				if requests == request+gap {
					second = backendtest.MustHold(t, next)
				}
			}}
			r, err := lockIn(look).Read(t.Context())
			backendtest.MustWork(t, err)
			if over = second == nil; over {
				break
			}
			seen := func(h backend.Holder) bool { return h.ID == first.ID() || h.ID == second.ID() }
			if !slices.ContainsFunc(r.Holders, seen) {
				t.Errorf("handed over before request %d of the look, in %d steps: holders %+v, waiters %+v", request, gap+1, r.Holders, r.Waiters)
			}
		}
	}
}

// A hookedStore is a store of a reader, which does something before each of its requests.
type hookedStore struct {
	Store
	before func()
}

func (s hookedStore) List(ctx context.Context) ([]Object, error) {
	s.before()
	return s.Store.List(ctx)
}

func (s hookedStore) Get(ctx context.Context, key string) (Object, []byte, error) {
	s.before()
	return s.Store.Get(ctx, key)
}

// TestLateCreation: the request of a sender that has given up is executed after the sender has
// ended.
func TestLateCreation(t *testing.T) {
	f := newFake()
	ctx, cancel := context.WithCancel(t.Context())
	var late func() error
	f.once("create", generationPrefix, func(c faulty.Call) error {
		late = c.Do
		cancel()
		return noAnswer()
	})
	a := attemptIn(t, f)
	if h, err := a.Try(ctx); err == nil {
		t.Fatalf("a locker whose request had no answer holds generation %d", h.Token())
	}
	backendtest.MustWithdraw(t, a)
	backendtest.MustWork(t, late())
	h := backendtest.MustHold(t, attemptIn(t, f))
	if h.Token() != 2 {
		t.Errorf("the next holder has token %d, want 2", h.Token())
	}
	backendtest.MustRelease(t, h)
}

// TestUnclearReservation: if it is unclear whether a reservation was made, its name is never used
// again: a late copy of the request may bring it back.
func TestUnclearReservation(t *testing.T) {
	f := newFake()
	var spoiled string
	f.once("put", reservationPrefix, func(c faulty.Call) error {
		_ = c.Do()
		spoiled = f.keys()[0]
		return noAnswer()
	})
	h := backendtest.MustHold(t, attemptIn(t, f))
	if strings.Contains(spoiled, h.ID()) || slices.Contains(f.keys(), spoiled) {
		t.Errorf("%s is used, or still there", spoiled)
	}
	backendtest.MustRelease(t, h)
}

// TestBroughtBack: a late copy of a request brings back a broken holder's reservation. The holder
// notices that somebody else has had the lock since.
func TestBroughtBack(t *testing.T) {
	f := newFake()
	h := backendtest.MustHold(t, attemptIn(t, f))
	key := h.(*hold).Mine.ticket.reservation()
	back := f.objects[key]
	backendtest.MustWork(t, backendtest.BreakID(t.Context(), lockIn(f), h.ID()))
	next := backendtest.MustHold(t, attemptIn(t, f))
	f.objects[key] = back
	backendtest.MustBeLost(t, h)
	backendtest.MustStillHold(t, next)
	backendtest.MustRelease(t, next)
}

// TestBroughtBackLate: as TestBroughtBack, but by then the generation after the broken holder's
// was removed. And a locker that had been stopped since before that has made the holder's own
// generation again.
func TestBroughtBackLate(t *testing.T) {
	f := newFake()
	h := backendtest.MustHold(t, attemptIn(t, f))
	key := h.(*hold).Mine.ticket.reservation()
	back := f.objects[key]
	backendtest.MustWork(t, backendtest.BreakID(t.Context(), lockIn(f), h.ID()))
	for slices.Contains(f.keys(), generationKey(h.Token()+1)) || !slices.Contains(f.keys(), generationKey(h.Token()+2)) {
		backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
	}
	next := backendtest.MustHold(t, attemptIn(t, f))
	f.objects[key] = back
	lateOne := attemptIn(t, f)
	backendtest.MustWork(t, lateOne.reserve(t.Context()))
	if _, err := lateOne.create(t.Context(), h.Token()); !errors.Is(err, generation.ErrBroken) { // until then it had seen nothing newer
		t.Errorf("making an old generation again returns %v, want ErrBroken", err)
	}
	backendtest.MustBeLost(t, h)
	backendtest.MustStillHold(t, next)
	backendtest.MustRelease(t, next)
}

// TestNeverBroughtBack: a heartbeat does not write an object that somebody may have removed.
func TestNeverBroughtBack(t *testing.T) {
	f := newFake()
	h := backendtest.MustHold(t, attemptIn(t, f))
	f.once("put", beatPrefix, func(c faulty.Call) error {
		backendtest.MustWork(t, backendtest.BreakID(t.Context(), lockIn(f), h.ID()))
		return c.Do()
	})
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("the heartbeat of a broken holder returns %v, want ErrGone", err)
	}
	mustBeTidy(t, f)
}

// TestOldListing: a listing that lacks what we made ourselves proves nothing.
func TestOldListing(t *testing.T) {
	f := newFake()
	h := backendtest.MustHold(t, attemptIn(t, f))
	old := f.keys()
	f.before = func(c faulty.Call) error {
		if c.Op != "list" {
			return c.Do()
		}
		f.mu.Lock()
		now := f.objects
		f.objects = map[string]stored{}
		for _, key := range old {
			if strings.HasPrefix(key, generationPrefix) {
				f.objects[key] = now[key]
			}
		}
		f.mu.Unlock()
		defer func() { f.objects = now }()
		return c.Do()
	}
	a := attemptIn(t, f)
	_, err := a.Try(t.Context())
	backendtest.MustFail(t, err, protocol.CannotCreate, "the listing lacks our reservation")
	f.before = nil
	backendtest.MustWithdraw(t, a)
	backendtest.MustRelease(t, h)
}

// TestListingOfTwoMoments: a listing may show or not what was made while it ran. If it shows a
// generation, it may still lack the generation's reservation, which was made before.
func TestListingOfTwoMoments(t *testing.T) {
	f := newFake()
	var h backend.Hold
	f.once("list", "", func(c faulty.Call) error {
		other := attemptIn(t, f)
		other.Request.Timeout = 0 // it does not leave the lock to those before it
		h = backendtest.MustHold(t, other)
		key := h.(*hold).Mine.ticket.reservation()
		hidden := f.objects[key]
		delete(f.objects, key)
		defer func() { f.objects[key] = hidden }()
		return c.Do()
	})
	a := attemptIn(t, f)
	backendtest.MustBeHeld(t, a)
	backendtest.MustStillHold(t, h)
	backendtest.MustWithdraw(t, a)
	backendtest.MustRelease(t, h)
}

// TestLateHeartbeat: after a lease of silence somebody may be about to remove the reservation. So
// a heartbeat renews nothing, even if the reservation is there.
func TestLateHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		h := backendtest.MustHold(t, attemptIn(t, f))
		time.Sleep(2 * time.Minute)
		backendtest.MustBeLost(t, h)
		mustBeTidy(t, f)
	})
}

// TestPaused: a locker is stopped for longer than its lease just before it would get the lock. It
// does not take the lock, for somebody may be about to remove its reservation.
func TestPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.once("create", generationPrefix, func(c faulty.Call) error {
			err := c.Do()
			time.Sleep(2 * time.Minute)
			return err
		})
		h := backendtest.MustHold(t, attemptIn(t, f))
		if h.Token() != 2 {
			t.Errorf("the token is %d, want 2", h.Token())
		}
		backendtest.MustRelease(t, h)
		mustBeTidy(t, f)
	})
}

// TestTooSlow: if requests are so slow that an acquisition takes longer than a lease, an attempt
// ends after three generations of its own, and leaves no more of them than others do.
func TestTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for range 9 {
			backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
		}
		f.before = func(c faulty.Call) error {
			time.Sleep(1500 * time.Millisecond)
			return c.Do()
		}
		r := request()
		r.Owner.Lease = 4 * time.Second
		a, err := lockIn(f).Attempt(r)
		backendtest.MustWork(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
		defer cancel()
		_, err = backend.Acquire(ctx, a)
		backendtest.MustFail(t, err, protocol.Unreachable, "too slow for the lease: 3 times in a row the lease of 4s was over")
		if newest, err := lockIn(f).NewestToken(t.Context()); err != nil || newest != 12 {
			t.Errorf("after three attempts the newest generation is %d, %v; want 12", newest, err)
		}
		backendtest.MustWithdraw(t, a)
		mustBeTidy(t, f)
	})
}

// TestPausedInTheQueue: a waiter that was stopped for longer than its lease does not go on with
// its reservation. Somebody may be about to remove that, and would break it as a holder.
func TestPausedInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		h, a := heldAndWanted(t, f)
		before := a.Mine.ticket
		backendtest.MustRelease(t, h)
		time.Sleep(2 * time.Minute)
		next := backendtest.MustHold(t, a)
		if next.ID() == before.id {
			t.Error("a waiter that was stopped for longer than its lease holds the lock with its old reservation")
		}
		backendtest.MustRelease(t, next)

		h, a = heldAndWanted(t, f)
		time.Sleep(2 * time.Minute)
		if err := a.Wait(t.Context()); err != nil || a.Mine != nil {
			t.Errorf("its place in the queue is kept: %v", err)
		}
		backendtest.MustRelease(t, h)
		mustBeTidy(t, f)
	})
}

// TestGivenUp: a reservation whose removal got no answer is never used by a holder later, because
// it may yet be removed. And the waiter goes on, whatever other request gets no answer.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		h, a := heldAndWanted(t, f)
		backendtest.MustRelease(t, h)
		time.Sleep(2 * time.Minute) // longer than its lease
		var late []func() error
		f.before = func(c faulty.Call) error {
			if c.Op != "delete" {
				return c.Do()
			}
			late = append(late, c.Do)
			return noAnswer()
		}
		for range 3 {
			backendtest.MustBeHeld(t, a)
			backendtest.MustWork(t, a.Wait(t.Context()))
		}
		f.before = nil
		next := backendtest.MustHold(t, a)
		for _, removal := range late {
			backendtest.MustWork(t, removal())
		}
		backendtest.MustStillHold(t, next)
		backendtest.MustRelease(t, next)
		mustBeTidy(t, f)
	})
}

// TestLateAndNotRemoved: what comes after the removal of a reservation that came too late waits for
// that removal. The count decides when a store is called too slow.
func TestLateAndNotRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		gone := ticket{at: 1, lease: time.Minute, id: owner.NewID()}
		for n := range uint64(5) {
			backendtest.MustWork(t, f.put(generationKey(n+1), []byte(gone.String())))
		}
		a := attemptIn(t, f)
		backendtest.MustWork(t, a.reserve(t.Context()))
		var removed []string
		f.before = func(c faulty.Call) error {
			switch {
			case c.Op == "create":
				time.Sleep(2 * time.Minute) // longer than its lease
			case c.Op == "delete":
				removed = append(removed, c.Name)
				return noAnswer()
			}
			return c.Do()
		}
		a.began = a.Request.Clock.Now()
		_, err := a.Take(t.Context())
		if !backend.Passes(err) || a.late != 0 || len(removed) != 1 {
			t.Errorf("our reservation cannot be removed: Take returns %v, counts %d late generations, and asks to remove %q; want an error that may pass, 0, and the reservation alone", err, a.late, removed)
		}
	})
}

// TestTendHangs: heartbeats go on while housekeeping hangs. The race detector sees the state that
// they share.
func TestTendHangs(t *testing.T) {
	f := newFake()
	h := backendtest.MustHold(t, attemptIn(t, f))
	done := make(chan error)
	go func() {
		var err error
		for range 50 * tendEvery {
			err = errors.Join(err, h.Tend(t.Context()))
		}
		done <- err
	}()
	for range 200 {
		backendtest.MustStillHold(t, h)
	}
	backendtest.MustWork(t, <-done)
	backendtest.MustRelease(t, h)
}

// TestLease: a silent holder is broken after a whole lease, and a living one is not, whatever the
// store's clock says.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		h := backendtest.MustHold(t, attemptIn(t, f))
		began := time.Now()
		taken := make(chan backend.Hold)
		a := attemptIn(t, f)
		go func() {
			next, err := backend.Acquire(t.Context(), a)
			if err != nil {
				t.Error(err)
			}
			taken <- next
		}()
		for range 20 {
			time.Sleep(15 * time.Second)
			backendtest.MustStillHold(t, h)
		}
		silent := time.Now()
		next := <-taken
		if d := time.Since(silent); d < time.Minute || d > 80*time.Second {
			t.Errorf("a silent holder was broken %v after its last heartbeat, want 1m0s to 1m20s; the whole took %v", d, time.Since(began))
		}
		backendtest.MustBeLost(t, h)
		backendtest.MustRelease(t, next)
	})
}

// TestRequests: how many requests each step takes.
func TestRequests(t *testing.T) {
	f := newFake()
	spent := func(about string, want map[string]int, step func()) {
		t.Helper()
		clear(f.requests)
		step()
		for _, what := range []string{"create", "put", "get", "head", "delete", "list"} {
			if f.requests[what] != want[what] {
				t.Errorf("requests for %s: %v, want %v", about, f.requests, want)
				break
			}
		}
	}
	var h backend.Hold
	for gets := range 4 { // of the last generation, and of its reservation
		spent("acquire", map[string]int{"delete": 1, "put": 1, "list": 2, "create": 1, "get": 2 * min(gets, 1)}, func() { h = backendtest.MustHold(t, attemptIn(t, f)) })
		backendtest.MustRelease(t, h)
	}
	h = backendtest.MustHold(t, attemptIn(t, f))
	spent("heartbeat", map[string]int{"put": 1, "head": 1, "get": 2}, func() { backendtest.MustStillHold(t, h) })
	waiter := attemptIn(t, f)
	backendtest.MustBeHeld(t, waiter)
	spent("look", map[string]int{"head": 1}, func() {
		if again, err := waiter.Changed(t.Context()); again || err != nil {
			t.Errorf("Changed while nothing has changed: %t, %v", again, err)
		}
	})
	keeper := h.(*hold).Mine.lock
	record := func() { backendtest.MustWork(t, shelf.Record(t.Context(), keeper, h)) }
	spent("the first success", map[string]int{"put": 2, "head": 1, "get": 2, "list": 1}, record)
	spent("release", map[string]int{"head": 1, "get": 2, "delete": 3}, func() { backendtest.MustRelease(t, h) })
	h = backendtest.MustHold(t, waiter)
	spent("ask for the last success", map[string]int{"put": 1, "head": 1, "get": 3, "list": 1}, func() {
		last, err := shelf.Last(t.Context(), keeper, h)
		if backendtest.MustWork(t, err); last == nil {
			t.Error("there was a success")
		}
	})
	spent("the next success", map[string]int{"put": 2, "head": 1, "get": 2, "list": 1, "delete": 1}, record)
	backendtest.MustRelease(t, h)
}

// TestManyWait: the first in the queue asks every second at last. The others ask the more seldom,
// the more wait before them. Nobody lists.
func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		h := backendtest.MustHold(t, attemptIn(t, f))
		ctx, cancel := context.WithCancel(t.Context())
		const waiters = 10
		done := make(chan bool)
		for range waiters {
			time.Sleep(time.Second)
			go func() {
				_, _ = backend.Acquire(ctx, attemptIn(t, f))
				done <- true
			}()
		}
		beat := func(minutes int) {
			for range 4 * minutes {
				time.Sleep(15 * time.Second)
				backendtest.MustStillHold(t, h)
			}
		}
		beat(10)
		f.counted()
		beat(60)
		hour := f.counted()
		if n := hour["head"]; n > 16_000 {
			t.Errorf("%d looks (HEAD) in an hour, want 16,000 at most", n)
		}
		if n := hour["list"]; n > 10 {
			t.Errorf("%d listings in an hour, want 10 at most", n)
		}
		if n := hour["put"]; n > 250*(waiters+1) {
			t.Errorf("%d heartbeats (PUT) in an hour, want %d at most", n, 250*(waiters+1))
		}
		t.Logf("in an hour: %v", hour)
		cancel()
		for range waiters {
			<-done
		}
	})
}

// TestOldGenerationsGo: while the store removes nothing, each holder leaves a generation. After
// that each release removes maxOld of them, the oldest first, until only those are left that are
// always kept.
func TestOldGenerationsGo(t *testing.T) {
	f := newFake()
	generations := func() (n int) {
		for _, key := range f.keys() {
			if _, ok := parseGeneration(key); ok {
				n++
			}
		}
		return n
	}
	const holders = 46
	f.before = func(c faulty.Call) error {
		if c.Op == "delete" && strings.HasPrefix(c.Name, generationPrefix) {
			return noAnswer()
		}
		return c.Do()
	}
	for range holders {
		backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
	}
	if n := generations(); n != holders {
		t.Fatalf("there are %d generations after %d holders though none could be removed, want one each", n, holders)
	}
	f.before = nil
	for want := holders; want > generation.Kept+1; {
		want = max(want+1-maxOld, generation.Kept+1)
		backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
		if n := generations(); n != want {
			t.Errorf("after a release there are %d generations, want %d", n, want)
		}
	}
}

// TestOneGenerationStays: if the store does not remove one generation, all newer ones stay, too:
// by the rule no generation is there without those after it. They go with the first release that
// can remove that generation, whether its answer comes or not.
func TestOneGenerationStays(t *testing.T) {
	for about, instead := range map[string]faulty.Hook{
		"not executed":  func(faulty.Call) error { return noAnswer() },
		"answer lost":   func(c faulty.Call) error { return errors.Join(noAnswer(), c.Do()) },
		"not permitted": func(faulty.Call) error { return &backend.Error{Code: protocol.Permission, Err: errors.New("no")} },
	} {
		t.Run(about, func(t *testing.T) {
			f := newFake()
			stays := generationKey(1)
			f.before = func(c faulty.Call) error {
				if c.Op == "delete" && c.Name == stays {
					return instead(c)
				}
				return c.Do()
			}
			const holders = 10
			for range holders {
				backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
			}
			var last uint64
			for _, key := range f.keys() {
				n, ok := parseGeneration(key)
				if ok && last != 0 && n != last+1 {
					t.Errorf("generation %d comes after %d, want no gap", n, last)
				}
				last = max(last, n)
			}
			f.before = nil
			backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
			if n := len(f.keys()); n != generation.Kept+1 {
				t.Errorf("in the end %d objects are left, want %d: %q", n, generation.Kept+1, f.keys())
			}
		})
	}
}

// TestFailedRemoval: if the lock cannot be removed, its hold is released all the same. Whoever asked
// for the removal ends, and others would have to wait for its lease.
func TestFailedRemoval(t *testing.T) {
	for _, what := range []string{"list", "delete"} {
		f := newFake()
		l, h := lockIn(f), backendtest.MustHold(t, attemptIn(t, f))
		backendtest.MustWork(t, f.Put(t.Context(), successNames.Of(h.Token(), h.ID()), nil))
		f.once(what, "", func(faulty.Call) error { return noAnswer() })
		backendtest.MustFail(t, l.Remove(t.Context(), h), protocol.Unreachable, "no answer")
		backendtest.MustRelease(t, backendtest.MustHold(t, attemptIn(t, f)))
	}
}
