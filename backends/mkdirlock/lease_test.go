//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/condition"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// slack is how late a waiter may be, because it pauses between two tries.
const slack = 10 * time.Second

const leaseAndDrift = lease + lease/100

// TestHeartbeatBetweenLookAndRemoval: the holder beats after the waiter's last look, and may
// still be broken. But then it learns of that, and only one holds the lock.
func TestHeartbeatBetweenLookAndRemoval(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		old := newHost("elsewhere", m, k).take(t, "exclusive")
		beaten := false
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "rmdir" && strings.Contains(o.Name, old.ID()) && !beaten {
				beaten = true
				mustStillHold(t, old)
			}
			return o.Do()
		}), k)
		h := mustAcquire(t, here.want(t, "exclusive"))
		mustBeLost(t, old)
		mustStillHold(t, h)
	})
}

// TestSharingBeginsTheLease: a waiter that comes to share the lock holds it for a whole lease from
// then on, though it made a heartbeat before, while it waited.
func TestSharingBeginsTheLease(t *testing.T) {
	for _, k := range []kindOfLock{dirStyle, numbered} {
		t.Run(k.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				old := newHost("elsewhere", m, k).take(t, "exclusive")
				sharer, breaker := newHost("here", m, k).want(t, "shared"), newHost("there", m, k).want(t, "exclusive")
				mustBeHeldBy(t, sharer, old)
				mustBeHeld(t, breaker) // by the holder, or by the sharer, whose entry is in the lock as well
				time.Sleep(lease/4 - time.Millisecond)
				mustRelease(t, old)
				h := mustHold(t, sharer)
				time.Sleep(lease - time.Millisecond) // it is stopped
				mustBeHeldBy(t, breaker, h)
			})
		})
	}
}

// TestListingWithoutHeartbeatStartsTheLeaseAgain: a listing may miss a name while it is renamed.
// So a missing heartbeat is a sign of life.
func TestListingWithoutHeartbeatStartsTheLeaseAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		old := newHost("elsewhere", m, k).take(t, "exclusive")
		var blink atomic.Bool
		here := newHost("here", blinking{m, &blink, old.claim.path()}, k)
		time.AfterFunc(lease/2, func() { blink.Store(true) })
		start := time.Now()
		mustAcquire(t, here.want(t, "exclusive"))
		if blink.Load() {
			t.Error("nobody looked")
		}
		between(t, "breaking", time.Since(start), lease/2+leaseAndDrift, 2*lease+leaseAndDrift+slack)
	})
}

// A blinking Dir misses all names in one listing of a directory.
type blinking struct {
	dirs.Dir
	blink *atomic.Bool
	where string
}

func (b blinking) List(ctx context.Context, name string) ([]string, error) {
	if name == b.where && b.blink.CompareAndSwap(true, false) {
		return nil, nil
	}
	return b.Dir.List(ctx, name)
}

// TestUnclearLookStartsTheLeaseAgain: while the server is away, nobody knows
// whether the holder beats.
func TestUnclearLookStartsTheLeaseAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		old := newHost("elsewhere", m, k).take(t, "exclusive")
		var failed atomic.Bool
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "list" && o.Name == old.claim.path() && (bubbleTime{}).Now() > lease/2 && failed.CompareAndSwap(false, true) {
				return faulty.Away()
			}
			return o.Do()
		}), k)
		start := time.Now()
		mustAcquire(t, here.want(t, "exclusive"))
		between(t, "breaking", time.Since(start), lease/2+leaseAndDrift, 3*lease+slack)
	})
}

// TestServerAwayAtFirst: a try that never reached the server says that nothing is known about the
// lock, whether the server is away or only turns clients away.
func TestServerAwayAtFirst(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		var err error = faulty.Away()
		here := newHost("here", hooked(m, func(faulty.Call) error { return err }), k)
		_, got := here.want(t, "exclusive").Try(t.Context())
		mustFail(t, got, protocol.Unreachable, "no route")
		var held *backend.HeldError
		if !errors.As(got, &held) || held.Answered() {
			t.Errorf("a try at a server that is away returns %v, want that nothing is known of the lock", got)
		}
		err = dirs.ErrBusy
		if _, got = here.want(t, "exclusive").Try(t.Context()); !errors.As(got, &held) || held.Answered() {
			t.Errorf("a try at a busy server returns %v, want that nothing is known of the lock", got)
		}
		mustFail(t, got, protocol.Unreachable, "turns clients away")
	})
}

// TestSilentBeforeFirstHeartbeat: a locker has done everything but the first heartbeat, and is
// paused for a lease. Then it must not rely on its old ticket.
func TestSilentBeforeFirstHeartbeat(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		paused := ""
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "mkdir" && strings.Count(o.Name, ".") > 1 && strings.Contains(o.Name, "/0.") && paused == "" {
				paused = o.Name
				time.Sleep(lease)
			}
			return o.Do()
		}), k)
		h := mustAcquire(t, here.want(t, "exclusive"))
		if paused == "" || strings.HasPrefix(paused, h.claim.path()+"/") {
			t.Errorf("paused at %q, it holds by %s", paused, h.claim.path())
		}
		mustRelease(t, h)
		mustBeTidy(t, m, k)
	})
}

// TestTending: a holder removes what crashed waiters left when its time is over, and leaves
// living waiters alone.
func TestTending(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		here := newHost("here", m, k)
		h := here.take(t, "exclusive")
		lives := here.want(t, "exclusive")
		// Three that died: after the reservation, after the entry, after the first wait.
		empty, bare := here.ask(t, here.by(7, "exclusive")), here.ask(t, here.by(7, "exclusive"))
		for _, a := range []*attempt{empty, bare} {
			mustBeHeld(t, a)
		}
		mustWork(t, m.Rmdir(t.Context(), empty.mine.path()))
		waited := here.ask(t, here.by(7, "exclusive"))
		mustBeHeld(t, waited)
		mustWork(t, waited.Wait(t.Context()))
		here.Dead[7] = true
		for start := time.Now(); time.Since(start) < 3*lease; {
			mustWork(t, h.Tend(t.Context()))
			mustStillHold(t, h)
			mustBeHeld(t, lives)
			mustWork(t, lives.Wait(t.Context()))
		}
		left := slices.DeleteFunc(untidy(m, k), func(n string) bool {
			return strings.Contains(n, h.ID()) || strings.Contains(n, lives.mine.entry.Ticket.ID) || n == "L"
		})
		if len(left) > 0 {
			t.Errorf("Tend leaves what the dead left: %q", left)
		}
		if !slices.Contains(m.All(), lives.mine.path()) {
			t.Error("the reservation of one that lives was removed")
		}
		mustWithdraw(t, lives)
		mustRelease(t, h)
		mustBeTidy(t, m, k)
	})
}

// remembered is how many others a watcher remembers.
func remembered(w *watch.Watcher) (n int) {
	w.Keep(func(string) bool { n++; return true })
	return n
}

// TestForgetsWhoWent: a long holder forgets waiters that have gone.
func TestForgetsWhoWent(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		here := newHost("here", m, k)
		h := here.take(t, "exclusive")
		for range 3 {
			a := newHost("there", m, k).want(t, "exclusive")
			mustBeHeld(t, a)
			mustWork(t, a.beatWaiting(t.Context()), h.Tend(t.Context()))
			if remembered(h.others.Watcher) == 0 {
				t.Error("the holder does not see who waits")
			}
			mustWithdraw(t, a)
		}
		mustWork(t, h.Tend(t.Context()))
		if n := remembered(h.others.Watcher); n > 0 {
			t.Errorf("a holder still remembers %d waiters that have gone", n)
		}
		mustRelease(t, h)
	})
}

// A crowded directory has more beside the lock than a listing may have.
type crowded struct {
	*memory
	listings int
}

func (c *crowded) List(ctx context.Context, name string) ([]string, error) {
	if name == "." {
		c.listings++
		return nil, backend.TooLongError("it has no end")
	}
	return c.memory.List(ctx, name)
}

// TestTendInACrowd: a listing that is too long is not tried again at every heartbeat. It costs an
// FTP server a megabyte, and us the connection.
func TestTendInACrowd(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		dir := &crowded{memory: m}
		h := newHost("here", dir, plain).take(t, "exclusive")
		for range 3 {
			_ = h.Tend(t.Context())
			mustStillHold(t, h)
		}
		if dir.listings != 1 {
			t.Errorf("a holder listed a crowd %d times, want 1", dir.listings)
		}
		mustRelease(t, h)
		mustBeTidy(t, m, plain)
	})
}

// TestWaitInACrowd: a waiter that cannot count who waits, because the listing is too long, does not
// try that again at every pause.
func TestWaitInACrowd(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		dir := &crowded{memory: m}
		h := newHost("here", m, plain).take(t, "exclusive")
		a := newHost("there", dir, plain).want(t, "exclusive")
		for range 4 {
			mustBeHeldBy(t, a, h)
			mustWork(t, a.Wait(t.Context()))
		}
		if dir.listings != 1 {
			t.Errorf("a waiter listed a crowd %d times, want 1", dir.listings)
		}
	})
}

// TestLapsedByPlace: who waits for less than a lease is told by the clock of the place that a holder was
// silent for longer than its lease, or how old an empty lock is. Who waits longer watches for itself, and
// asks for no times.
func TestLapsedByPlace(t *testing.T) {
	for _, k := range everyKind {
		for _, mode := range modes(k) {
			t.Run(name(k, " ", mode), func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *memory) {
					d := newDated(m)
					h, here := newHost("there", d, k).take(t, "exclusive"), newHost("here", d, k)
					mustTell := func(about string, timeout, age time.Duration, stuck bool) {
						t.Helper()
						r := here.Request(mode)
						r.Timeout = timeout
						a := here.ask(t, r)
						defer mustWithdraw(t, a)
						held := backendtest.MustBeHeld(t, a)
						if condition.IsStuck(held) != stuck || held.Holder.ByPlace != (age > 0) || age > 0 && held.Holder.Heartbeat != age {
							t.Errorf("%s: stuck %v, age %v by the place: %v; want %v, %v", about, condition.IsStuck(held), held.Holder.Heartbeat, held.Holder.ByPlace, stuck, age)
						}
					}
					mustTell("a new holder", 0, 0, false)
					for range 8 {
						time.Sleep(lease / 4)
						mustStillHold(t, h)
					}
					time.Sleep(lease / 8)
					mustTell("one that beats", 0, lease/8, false)
					time.Sleep(lease)
					mustTell("a silent one", 0, lease+lease/8, true)
					mustTell("a silent one, for who waits for less than a lease", lease/2, lease+lease/8, true)
					mustTell("a silent one, for who waits", lease, 0, false)
					if k.style == PlainStyle {
						mustRelease(t, mustAcquire(t, here.want(t, mode)))
						d.has(t, "L")
						time.Sleep(lease)
						mustTell("an empty lock, as old as a lease", 0, lease, false)
						time.Sleep(2 * time.Second)
						mustTell("an empty lock that is older", 0, lease+2*time.Second, true)
						mustTell("an older one, for who waits", backend.NoLimit, 0, false)
					}
				})
			})
		}
	}
}

// TestBareEntry: a process that died while it removed its lock, or before it learned that it had
// the lock, leaves an entry with nothing in it. That does not prove its owner dead. But no holder
// relies on such an entry, so that even waiters that never go by a lease break it soon.
func TestBareEntry(t *testing.T) {
	for _, h := range []habits{{}, {emptyIsRefused: true}, {missingIsEmpty: true}} {
		for i, k := range slices.Concat(everyKind, everyKind) {
			strict := i < len(everyKind)
			t.Run(name(k, " ", strict), func(t *testing.T) {
				inBubbleWith(t, h, func(t *testing.T, m *memory) {
					here := newHost("here", m, k)
					old := here.take(t, "exclusive")
					mustEmpty(t, m, old)
					there := newHost("there", m, k)
					r := there.Request("exclusive")
					r.Strict = strict
					a := there.ask(t, r)
					if held := mustBeHeld(t, a); held.Record != nil || held.Note == "" {
						t.Errorf("a bare entry is held by %+v, want a note and no record", held)
					}
					start := time.Now()
					next := mustAcquire(t, a)
					between(t, "breaking", time.Since(start), bareTime, bareTime+slack)
					mustBeLost(t, old)
					mustRelease(t, next)
					mustBeTidy(t, m, k)
				})
			})
		}
	}
}

// TestBareEntryComesToLife: the first heartbeat comes after a waiter has watched the bare entry,
// and before it removes the entry.
func TestBareEntryComesToLife(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		old := newHost("elsewhere", m, k).take(t, "exclusive")
		in := mustEmpty(t, m, old)
		here := newHost("here", m, k)
		r := here.Request("exclusive")
		r.Strict = true
		here.dir = &interposed{Dir: m, beforeRmdir: func(name string) {
			if name == old.claim.path() {
				mustWork(t, m.Mkdir(t.Context(), in))
			}
		}}
		ctx, cancel := clock.WithTimeout(t.Context(), bubbleTime{}, lease/2)
		defer cancel()
		a := here.ask(t, r)
		if h, err := backend.Acquire(ctx, a); !errors.Is(err, context.Canceled) {
			t.Errorf("a waiter broke an entry that came to life: %v, %v", h, err)
		}
		mustStillHold(t, old)
	})
}

// mustEmpty removes what is in a holder's entry, and returns its path.
func mustEmpty(t *testing.T, m *memory, h *hold) (path string) {
	t.Helper()
	names, err := m.List(t.Context(), h.claim.path())
	mustWork(t, err)
	for _, name := range names {
		path = h.claim.path() + "/" + name
		mustWork(t, m.Rmdir(t.Context(), path))
	}
	return path
}

// interposed calls a function right before a removal.
type interposed struct {
	dirs.Dir
	beforeRmdir func(name string)
}

func (i *interposed) Rmdir(ctx context.Context, name string) error {
	i.beforeRmdir(name)
	return i.Dir.Rmdir(ctx, name)
}

// TestUnfinishedReservation: a waiter died before it wrote its record. All who come to share the lock
// are held up by it for one lease in all, and remove it. That holds also where a directory that is
// missing is listed as empty.
func TestUnfinishedReservation(t *testing.T) {
	for _, h := range []habits{{}, {missingIsEmpty: true}, {emptyIsRefused: true}} {
		for _, entry := range []string{"", "/x."} {
			for _, k := range []kindOfLock{dirStyle, numbered} {
				t.Run(name(h, entry, k), func(t *testing.T) {
					inBubbleWith(t, h, func(t *testing.T, m *memory) {
						mustRelease(t, newHost("elsewhere", m, k).take(t, "exclusive"))
						dead := newHost("elsewhere", m, k)
						ticket := labels.Ticket{Lease: lease, ID: owner.NewID()}
						mustWork(t, m.Mkdir(t.Context(), dead.lock().reservation(ticket)))
						if entry != "" {
							mustWork(t, m.Mkdir(t.Context(), dead.lock().reservation(ticket)+entry+ticket.String()))
						}
						var waited time.Duration
						for i := range 8 { // each is a job that comes and goes
							start := time.Now()
							reader := mustAcquire(t, newHost(fmt.Sprint("h", i), m, k).want(t, "shared"))
							waited += time.Since(start)
							keepFor(t, reader, lease/4)
							time.Sleep(lease)
						}
						if waited > lease {
							t.Errorf("eight readers waited for %v in all because of somebody who died before it wrote its record; want a lease at most, %v", waited, lease)
						}
						last := newHost("last", m, k).take(t, "shared")
						for range 6 {
							mustStillHold(t, last)
							mustWork(t, last.Tend(t.Context()))
							time.Sleep(lease / 4)
						}
						mustRelease(t, last)
						mustBeTidy(t, m, k)
					})
				})
			}
		}
	}
}
