//go:build unix

package mkdirlock

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// at calls do once, before the first such call that match accepts.
func at(dir dirs.Dir, call string, match func(faulty.Call) bool, do func()) dirs.Dir {
	met := false
	return hooked(dir, func(o faulty.Call) error {
		if !met && o.Op == call && match(o) {
			met = true
			do()
		}
		return o.Do()
	})
}

func removes(e labels.Entry) func(faulty.Call) bool {
	return func(o faulty.Call) bool { return strings.Contains(o.Name, "/"+e.String()) }
}

func removesLock(o faulty.Call) bool { return o.Name == "L" }

func renamesToLock(o faulty.Call) bool { return o.To == "L" || o.To == "L/lock" }

// deceased returns a hold whose helper is proven dead to processes on the host "here".
func deceased(t *testing.T, m *memory, k kindOfLock) *hold {
	t.Helper()
	here := newHost("here", m, k)
	return mustHold(t, here.ask(t, here.by(7, "exclusive")))
}

func survivors(dir dirs.Dir, k kindOfLock) *host {
	h := newHost("here", dir, k)
	h.Dead[7] = true
	return h
}

// TestTwoBreakers: two break one dead holder. The slower one must not break the quicker one.
func TestTwoBreakers(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		// 1. Somebody dies with the lock.
		old := deceased(t, m, k)
		// 2. A decides to break it, and is paused before it removes the entry.
		var quick *hold
		a := survivors(at(m, "rmdir", removes(old.claim.entry), func() {
			// 3. B breaks it, and has the lock.
			quick = survivors(m, k).take(t, "exclusive")
		}), k).want(t, "exclusive")
		// 4. A goes on.
		mustBe(t, mustBeHeld(t, a), quick)
		mustStillHold(t, quick)
		mustRelease(t, quick)
		mustRelease(t, mustHold(t, a))
		mustBeTidy(t, m, k)
	})
}

// TestTwoBreakersAndEmptyLock: two try to remove a dead holder's entry. Only the one whose
// removal succeeded owns the empty L.
func TestTwoBreakersAndEmptyLock(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		// 1. Somebody dies with the lock.
		old := deceased(t, m, plain)
		// 2. A removes its entry, and is paused before it commits onto the empty L.
		a := survivors(at(m, "rename", renamesToLock, func() {
			// 3. B, who saw the dead one as well, comes too late for the entry.
			b := survivors(m, plain).want(t, "exclusive")
			if held := mustBeHeld(t, b); !strings.Contains(held.Note, "an empty directory") {
				t.Errorf("the slower breaker finds %+v, want an empty directory", held)
			}
			mustWithdraw(t, b)
		}), plain).want(t, "exclusive")
		// 4. A commits.
		h := mustHold(t, a)
		mustBeLost(t, old)
		mustRelease(t, h)
		mustBeTidy(t, m, plain)
	})
}

// TestPlainScriptWhileBreakerIsPaused: a breaker by id has removed the entry, and is paused
// before it removes L. When it goes on, a script that uses mkdir alone has L.
func TestPlainScriptWhileBreakerIsPaused(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		// 1. A lock is held.
		old := newHost("elsewhere", m, plain).take(t, "exclusive")
		var script error
		breaker := newHost("here", at(m, "rmdir", removesLock, func() {
			// 3. An administrator removes the empty L, and a script makes its own.
			mustWork(t, m.Rmdir(t.Context(), "L"))
			script = m.Mkdir(t.Context(), "L")
			mustWork(t, m.Mkdir(t.Context(), "L/of the script")) // marks L as the script's
		}), plain).lock()
		// 2. The breaker removes the entry, and is paused. 4. It goes on.
		err := backendtest.BreakID(t.Context(), breaker, old.ID())
		mustWork(t, script)
		if tree := m.All(); len(tree) != 2 || tree[1] != "L/of the script" {
			t.Errorf("after the break (%v) there is %q, want the script's lock", err, tree)
		}
	})
}

// TestPlainScriptAfterOtherBreaker: A saw a dead holder and is paused before it
// removes its entry; B breaks it and leaves; a script makes L. A removes nothing.
func TestPlainScriptAfterOtherBreaker(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		// 1. Somebody dies with the lock.
		old := deceased(t, m, plain)
		a := survivors(at(m, "rmdir", removes(old.claim.entry), func() {
			// 3. B has it, and releases it.
			mustRelease(t, survivors(m, plain).take(t, "exclusive"))
			// 4. A script makes L.
			mustWork(t, m.Mkdir(t.Context(), "L"))
		}), plain).want(t, "exclusive")
		// 2. A is paused. 5. A goes on, and waits.
		for range 3 {
			if held := mustBeHeld(t, a); !strings.Contains(held.Note, "an empty directory") {
				t.Errorf("A finds %+v, want the script's empty directory", held)
			}
			mustWork(t, a.Wait(t.Context()))
		}
		// 6. The script still has its L.
		mustWork(t, m.Rmdir(t.Context(), "L"))
		mustRelease(t, mustAcquire(t, a))
		mustBeTidy(t, m, plain)
	})
}

// TestHolderWakes: a holder that was paused for long, and was broken meanwhile, wakes.
func TestHolderWakes(t *testing.T) {
	for _, late := range []string{"heartbeat", "release"} {
		t.Run(late, func(t *testing.T) {
			eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
				// 1. A holds the lock, and is paused before a call.
				var next *hold
				h := newHost("elsewhere", m, k).take(t, "exclusive")
				h.claim.dir = hooked(m, func(o faulty.Call) error {
					if next == nil {
						// 2. B breaks A, and has the lock.
						next = mustAcquire(t, newHost("here", m, k).want(t, "exclusive"))
					}
					return o.Do()
				})
				h.dir = h.claim.dir
				// 3. A wakes.
				if late == "heartbeat" {
					mustFail(t, h.Heartbeat(t.Context()), protocol.Gone, "broke the lock")
				}
				mustFail(t, h.Release(t.Context()), protocol.Gone, "broke the lock")
				mustStillHold(t, next)
				mustRelease(t, next)
				mustBeTidy(t, m, k)
			})
		})
	}
}

// TestReleasePausedBeforeRemovingLock: a release has removed our entry, and not yet L.
func TestReleasePausedBeforeRemovingLock(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		// 1. A releases, and is paused after it removed the entry and before it removes L.
		h := newHost("elsewhere", m, plain).take(t, "exclusive")
		var next *hold
		h.dir = at(m, "rmdir", removesLock, func() {
			// 2. B finds an empty L, and waits.
			b := newHost("here", m, plain).want(t, "exclusive")
			mustBeHeld(t, b)
			// 3. An administrator takes L for an old lock, and removes it. B gets the lock.
			mustWork(t, m.Rmdir(t.Context(), "L"))
			next = mustHold(t, b)
		})
		// 4. A wakes, and removes nothing.
		mustRelease(t, h)
		mustStillHold(t, next)
		mustRelease(t, next)
		mustBeTidy(t, m, plain)
	})
}

// TestLateRename: the answer to a commit is lost, the locker gives up, and the
// commit happens when somebody else has the lock.
func TestLateRename(t *testing.T) {
	for when, free := range map[string]bool{"somebody has the lock": false, "nobody has it": true} {
		t.Run(name(when), func(t *testing.T) {
			eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
				// 1. A renames its reservation; the server does not execute that yet.
				var late func() error
				dir := hooked(m, func(o faulty.Call) error {
					if o.Op == "rename" && renamesToLock(o) && late == nil {
						late = o.Do
						return dirs.ErrUnclear
					}
					if o.Op == "list" && late != nil {
						return faulty.Away()
					}
					return o.Do()
				})
				a := newHost("elsewhere", dir, k).want(t, "exclusive")
				if h, err := a.Try(t.Context()); err == nil {
					t.Fatalf("a locker whose answer was lost holds the lock: %+v", h)
				}
				// 2. A gives up as soon as the server answers again.
				a.dir = m
				if a.mine != nil {
					a.mine.dir = m
				}
				mustWithdraw(t, a)
				// 3. B takes the lock. 4. A's rename happens.
				b := newHost("here", m, k)
				var h *hold
				if !free {
					h = b.take(t, "exclusive")
				}
				_ = late()
				if free {
					h = b.take(t, "exclusive")
				}
				mustStillHold(t, h)
				mustBeHeldBy(t, newHost("elsewhere", m, k).want(t, "exclusive"), h)
			})
		})
	}
}

// TestBrokenWhileWaiting: an operator removes a waiter, which goes on waiting.
func TestBrokenWhileWaiting(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		h := newHost("elsewhere", m, k).take(t, "exclusive")
		here := newHost("here", m, k)
		a := here.want(t, "exclusive")
		mustBeHeldBy(t, a, h)
		mustWork(t, a.Wait(t.Context()))
		r, err := here.lock().Read(t.Context())
		if err != nil || len(r.Holders) != 1 || len(r.Waiters) != 1 {
			t.Fatalf("Read sees %+v, %v; want one holder and one waiter", r, err)
		}
		mustWork(t, backendtest.BreakID(t.Context(), here.lock(), r.Waiters[0].Record.ID))
		mustRelease(t, h)
		mustRelease(t, mustAcquire(t, a))
		mustBeTidy(t, m, k)
	})
}

// TestHalfBrokenWhileWaiting: an operator breaks a waiter and gets no further than its entry. On a
// server whose renames replace nothing the waiter must not rename what is left to the lock: that
// would be an empty lock of nobody.
func TestHalfBrokenWhileWaiting(t *testing.T) {
	inBubbleWith(t, habits{noOverwrite: true}, func(t *testing.T, m *memory) {
		h := newHost("elsewhere", m, plain).take(t, "exclusive")
		a := newHost("here", m, plain).want(t, "exclusive")
		mustBeHeldBy(t, a, h)
		a.gate = renaming // as it has found out in earlier tries
		mustWork(t, a.Wait(t.Context()))
		for _, name := range slices.Backward(m.All()) {
			if strings.HasPrefix(name, a.mine.home+"/") {
				mustWork(t, m.Rmdir(t.Context(), name))
			}
		}
		mustRelease(t, h)
		mustRelease(t, mustAcquire(t, a))
		mustBeTidy(t, m, plain)
	})
}

// TestWaiterShowsThatItLives: a waiter beats at least as often as its report tells operators.
func TestWaiterShowsThatItLives(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		h := newHost("elsewhere", m, k).take(t, "exclusive")
		here := newHost("here", m, k)
		a := here.want(t, "exclusive")
		var last backend.Holder
		var beaten time.Time
		for beats := 0; beats < 4; {
			mustBeHeldBy(t, a, h)
			mustStillHold(t, h)
			now := time.Now() // when Wait shows that we live
			mustWork(t, a.Wait(t.Context()))
			r, err := here.lock().Read(t.Context())
			if err != nil || len(r.Waiters) != 1 {
				t.Fatalf("Read sees %+v, %v; want one waiter", r, err)
			}
			if r.Waiters[0].Sign == last.Sign {
				continue
			}
			if most := cmp.Or(last.Silence, last.Lease/4); beats > 0 && now.Sub(beaten) > most+most/25 {
				t.Errorf("silent for %v, and told of %v", now.Sub(beaten), most)
			}
			beats, last, beaten = beats+1, r.Waiters[0], now
		}
	})
}

// TestBrokenAfterCommit: between the commit and the first heartbeat somebody
// breaks us, and takes the lock.
func TestBrokenAfterCommit(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		there := newHost("there", m, k)
		var thief *hold
		first := func(o faulty.Call) bool { return strings.HasPrefix(o.Name, "L/") && strings.Contains(o.Name, "/0.") }
		a := newHost("here", at(m, "mkdir", first, func() {
			r, err := there.lock().Read(t.Context())
			if err != nil || len(r.Holders) != 1 {
				t.Fatalf("Read sees %+v, %v; want one holder", r, err)
			}
			names, err := m.List(t.Context(), there.lock().lock())
			mustWork(t, err)
			mustWork(t, backendtest.BreakID(t.Context(), there.lock(), labels.EntriesIn(names)[0].Ticket.ID))
			thief = there.take(t, "exclusive")
		}), k).want(t, "exclusive")
		mustBe(t, mustBeHeld(t, a), thief)
		mustStillHold(t, thief)
		mustRelease(t, thief)
		mustRelease(t, mustAcquire(t, a))
		mustBeTidy(t, m, k)
	})
}

// TestSharedEntersWhileExclusiveCommits: one would share the lock, another would have it alone.
// Only one of them gets it.
func TestSharedEntersWhileExclusiveCommits(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		mustRelease(t, newHost("here", m, dirStyle).take(t, "exclusive"))
		// 1. S is about to make its entry in L/lock.
		var alone backend.Hold
		makesEntry := func(o faulty.Call) bool { return strings.HasPrefix(o.Name, "L/lock/s.") }
		s := newHost("here", at(m, "mkdir", makesEntry, func() {
			// 2. X has the lock alone.
			alone = newHost("there", m, dirStyle).take(t, "exclusive")
		}), dirStyle).want(t, "shared")
		// 3. S makes its entry in X's directory, and sees X.
		mustBe(t, mustBeHeld(t, s), alone)
		mustStillHold(t, alone)
		mustRelease(t, alone)
		// 4. L/lock is not empty: nobody else gets the lock alone.
		x := newHost("there", m, dirStyle).want(t, "exclusive")
		mustBeHeld(t, x)
		mustRelease(t, mustAcquire(t, s))
		mustRelease(t, mustAcquire(t, x))
		mustBeTidy(t, m, dirStyle)
	})
}

// TestTimeEndsInCommit: the time to wait ends while we commit. The lock is ours, and has its
// token.
func TestTimeEndsInCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		ctx, cancel := context.WithCancel(t.Context())
		here := newHost("here", at(m, "rename", renamesToLock, cancel), numbered)
		h, err := here.ask(t, here.by(7, "exclusive")).Try(ctx)
		if err != nil || h.Token() == 0 {
			t.Fatalf("a Try whose time ends in the commit returns %v, %v; want a hold with a token", h, err)
		}
	})
}

// TestSomebodyReadsReservation: with SMB a reservation that somebody reads cannot be renamed for
// a moment. A user that may not rename at all is told so.
func TestSomebodyReadsReservation(t *testing.T) {
	forbid := func(o faulty.Call, times *int) error {
		if o.Op != "rename" || *times == 0 {
			return o.Do()
		}
		*times--
		return dirs.Outcome(unix.EACCES)
	}
	for times, others := range map[int]bool{1: false, backend.Races: true} {
		inBubble(t, func(t *testing.T, m *memory) {
			a := newHost("here", hooked(m, func(o faulty.Call) error { return forbid(o, &times) }), numbered).want(t, "exclusive")
			if others { // others were in our way all the time
				mustBeHeld(t, a)
			}
			mustRelease(t, mustHold(t, a))
			mustBeTidy(t, m, numbered)
		})
	}
	inBubble(t, func(t *testing.T, m *memory) {
		forever := -1
		a := newHost("here", hooked(m, func(o faulty.Call) error { return forbid(o, &forever) }), numbered).want(t, "exclusive")
		if _, err := a.Try(t.Context()); backend.CodeOf(err) != protocol.Permission {
			t.Error(err)
		}
		mustWork(t, a.Withdraw(t.Context()))
		mustBeTidy(t, m, numbered)
	})
}
