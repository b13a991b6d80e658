//go:build unix

package symlinks

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// loseReply executes the nth call that match accepts, and loses the answer.
func loseReply(dir Dir, n int, match func(faulty.Call) bool) Dir {
	return hooked(dir, func(o faulty.Call) error {
		err := o.Do()
		if match(o) {
			if n--; n == 0 {
				return unix.ETIMEDOUT
			}
		}
		return err
	})
}

func removes(o faulty.Call) bool { return o.Op == "rmdir" && !strings.Contains(o.Name, probePrefix) }

// TestReleaseReplyLost: the lock was released, but the answer was lost.
func TestReleaseReplyLost(t *testing.T) {
	for _, mode := range modes() {
		for _, taken := range []bool{false, true} {
			t.Run(name(mode, " taken over: ", taken), func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *memory) {
					here := newHost("here", m)
					h := here.take(t, mode)
					h.Mine.lock.Dir = loseReply(m, 1, removes)
					mustFail(t, h.Release(t.Context()), protocol.Unreachable, "try again")
					if taken {
						mustRelease(t, newHost("there", m).take(t, "exclusive"))
					}
					err := h.Release(t.Context())
					if taken != errors.Is(err, backend.ErrGone) || !taken && err != nil {
						t.Errorf("the release after a lost answer returns %v", err)
					}
					mustBeTidy(t, m)
				})
			})
		}
	}
}

// TestReleaseAfterLossIsALoss: after a heartbeat has found the lock lost, its release is a loss,
// even if nobody has taken the lock since.
func TestReleaseAfterLossIsALoss(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				h := newHost("here", m).take(t, mode)
				if err := backendtest.BreakID(t.Context(), newHost("there", m).lock(), h.ID()); err != nil {
					t.Fatal(err)
				}
				mustBeLost(t, h)
				mustBeTidy(t, m)
			})
		})
	}
}

// late keeps copies of all removals, to repeat them when they can only do harm.
type late struct{ removals []faulty.Call }

func (l *late) on(dir Dir) Dir {
	return hooked(dir, func(o faulty.Call) error {
		if o.Op == "rmdir" || o.Op == "unlink" || o.Op == "rename" {
			l.removals = append(l.removals, o)
		}
		return o.Do()
	})
}

func (l *late) repeat() {
	for _, o := range l.removals {
		_ = o.Do()
	}
}

// TestLateRemovalsHitNothing: a server executes every removal twice, the second time when others
// hold the lock. Among these are the removals of a breaker and of a release that were late
// already.
func TestLateRemovalsHitNothing(t *testing.T) {
	for _, first := range modes() {
		for _, second := range modes() {
			t.Run(first+" then "+second, func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *memory) {
					var old late
					here := newHost("here", old.on(m))
					mustRelease(t, here.take(t, first))
					dead := newHost("elsewhere", m).take(t, first)
					broken := mustAcquire(t, here.want(t, first)) // breaks it after a lease
					mustRelease(t, broken)
					dead.Mine.lock.Dir = old.on(m)
					_ = dead.Release(t.Context())
					keepsUnder(t, m, second, &old)
				})
			})
		}
	}
}

func keepsUnder(t *testing.T, m *memory, mode string, old *late) {
	t.Helper()
	there := newHost("there", m)
	hs := []*hold{there.take(t, mode)}
	if mode == "shared" {
		hs = append(hs, there.take(t, mode))
	}
	if len(old.removals) < 3 {
		t.Fatalf("there are only the removals %v to repeat, want 3", old.removals)
	}
	old.repeat()
	for _, h := range hs {
		mustStillHold(t, h)
	}
	other := there.want(t, "exclusive")
	mustBeHeld(t, other)
	mustWithdraw(t, other)
	for _, h := range hs {
		mustRelease(t, h)
	}
	if token := there.take(t, "exclusive").Token(); token <= hs[0].Token() {
		t.Errorf("the next holder has token %d after %d", token, hs[0].Token())
	}
}

// TestLateBreak: a breaker has decided to break a holder, and is paused. Meanwhile the holder
// beats and releases, and somebody else gets the lock.
func TestLateBreak(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				silent := newHost("elsewhere", m).take(t, mode)
				var next *hold
				breaker := newHost("here", hooked(m, func(o faulty.Call) error {
					if next == nil && removes(o) {
						// The silent holder wakes up and finishes its work.
						mustStillHold(t, silent)
						mustRelease(t, silent)
						next = mustAcquire(t, newHost("there", m).want(t, mode))
						keep(t, next)
					}
					return o.Do()
				})).want(t, "exclusive")
				mustBeHeld(t, breaker)
				time.Sleep(leaseAndDrift)
				if held := mustBeHeld(t, breaker); next == nil || held.Holder.Record == nil || held.Holder.Record.ID != next.ID() {
					t.Errorf("after a late break the lock is held by %+v, want the next holder", held.Holder)
				}
				mustStillHold(t, next)
			})
		})
	}
}

// TestStolenBetweenSymlinkAndListing: when we confirm our generation, it is not the newest any
// more, because our reservation was broken meanwhile.
func TestStolenBetweenSymlinkAndListing(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		var thief *hold
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			err := o.Do()
			if thief == nil && o.Op == "symlink" && strings.HasPrefix(o.Name, Generations) {
				// An operator breaks the holder that it sees, and takes the lock.
				there := newHost("there", m)
				r, inspectErr := there.lock().Read(t.Context())
				if inspectErr != nil || len(r.Holders) != 1 {
					t.Fatalf("Read sees %+v, %v; want one holder", r, inspectErr)
				}
				if breakErr := backendtest.BreakID(t.Context(), there.lock(), r.Holders[0].Record.ID); breakErr != nil {
					t.Fatal(breakErr)
				}
				thief = there.take(t, "exclusive")
			}
			return err
		}))
		a := here.want(t, "exclusive")
		if held := mustBeHeld(t, a); held.Holder.Record.ID != thief.ID() {
			t.Errorf("the lock is held by %+v, want the one that broke us", held.Holder)
		}
		mustStillHold(t, thief)
	})
}

// TestOutdatedGenerationIsNoHold: a locker is paused before it makes generation 2. Meanwhile
// others use generation 2, and it is removed. The locker can make it again, but does not hold the
// lock by that.
func TestOutdatedGenerationIsNoHold(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				there := newHost("there", m)
				mustRelease(t, there.take(t, "exclusive"))
				var now *hold
				a := newHost("here", hooked(m, func(o faulty.Call) error {
					if now == nil && o.Op == "symlink" && o.Name == lockName(2) {
						for now = mustAcquire(t, there.want(t, "exclusive")); now.Token() < 8; {
							mustRelease(t, now)
							now = mustAcquire(t, there.want(t, "exclusive"))
						}
					}
					return o.Do()
				})).want(t, mode)
				if held := mustBeHeld(t, a); now == nil || held.Holder.Record == nil || held.Holder.Record.ID != now.ID() {
					t.Errorf("the lock is held by %+v, want the holder that was not paused", held.Holder)
				}
				mustStillHold(t, now)
				mustRelease(t, now)
				if h := mustAcquire(t, a); h.Token() != 9 {
					t.Errorf("the locker that was paused gets token %d, want 9", h.Token())
				}
			})
		})
	}
}
