//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// tooLong is longer than a look at an empty lock may take if the lock is to be removed after it.
const tooLong = 2*time.Second + time.Millisecond

// TestReapLooksBeforeEach:
//
//	1  the reaper finds a and b, both empty and old
//	2  it removes a, which takes its time
//	3  meanwhile b is removed, and somebody else makes it
//	4  b is not removed
func TestReapLooksBeforeEach(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.has(t, "P/a", "P/b")
		time.Sleep(2 * time.Hour)
		d.hook = func(o faulty.Call) error {
			if o.String() == "rmdir P/a" {
				time.Sleep(time.Second)
				d.replaced(t, "P/b")
			}
			return o.Do()
		}
		found := reaped(t, d, removal)
		mustBeReaped(t, d, "P/a", found["a"])
		mustStand(t, d, "P/b", found["b"], "changed", "")
	})
}

// TestReapLateLook: an answer that was long on its way tells what was there before. While it was
// on its way, b was replaced.
func TestReapLateLook(t *testing.T) {
	for about, always := range map[string]bool{"once": false, "always": true} {
		t.Run(about, func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				d.has(t, "P/a", "P/b")
				time.Sleep(2 * time.Hour)
				looks := 0
				d.hook = func(o faulty.Call) error {
					err := o.Do()
					if looks++; o.String() != "entries P" || looks < 4 {
						return err
					}
					if time.Sleep(tooLong); !always {
						looks = -1000
					}
					if !always {
						d.replaced(t, "P/a")
					}
					return err
				}
				found := reaped(t, d, removal)
				if always {
					mustStand(t, d, "P/a", found["a"], "takes longer", protocol.Unreachable)
					mustStand(t, d, "P/b", found["b"], "takes longer", protocol.Unreachable)
					return
				}
				mustStand(t, d, "P/a", found["a"], "changed", "")
				mustBeReaped(t, d, "P/b", found["b"])
			})
		})
	}
}

// TestReapLateRemoval: the request to remove a waits for a new connection. When it could be sent,
// a may be somebody else's already, so it is not sent.
func TestReapLateRemoval(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.has(t, "P/a")
		time.Sleep(2 * time.Hour)
		d.hook = func(o faulty.Call) error {
			if o.String() == "rmdir P/a" {
				time.Sleep(tooLong)
				d.replaced(t, "P/a")
			}
			return o.Do()
		}
		mustStand(t, d, "P/a", reaped(t, connecting{d}, removal)["a"], "takes longer", protocol.Unreachable)
	})
}

// A connecting Dir takes long before a removal, and then looks whether ctx has ended.
type connecting struct{ *dated }

func (c connecting) Rmdir(ctx context.Context, name string) error {
	return c.hook.Make("rmdir", name, "", func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return c.touch(c.memory.Rmdir(ctx, name), "P")
	})
}

// TestReapLostAnswer: the server removed an empty lock, the answer was lost, and somebody else
// made the lock. The removal is not asked for again.
func TestReapLostAnswer(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.has(t, "P/a")
		time.Sleep(2 * time.Hour)
		asked := 0
		d.hook = func(o faulty.Call) error {
			if o.String() != "rmdir P/a" {
				return o.Do()
			}
			asked++
			d.replaced(t, "P/a")
			return dirs.Outcome(unix.ETIMEDOUT)
		}
		mustStand(t, d, "P/a", reaped(t, d, removal)["a"], "the answer was lost", protocol.Unreachable)
		if asked != 1 {
			t.Errorf("the removal was asked for %d times, want once", asked)
		}
	})
}

// TestReapRefused: the removal of a lock is refused, because somebody has it now or because it
// may not be removed.
func TestReapRefused(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.has(t, "P/a", "P/b")
		time.Sleep(2 * time.Hour)
		d.hook = func(o faulty.Call) error {
			switch o.String() {
			case "rmdir P/a":
				d.replaced(t, "P/a")
				return dirs.Outcome(unix.ENOTEMPTY)
			case "rmdir P/b":
				return unix.EACCES
			}
			return o.Do()
		}
		found := reaped(t, d, removal)
		mustStand(t, d, "P/a", found["a"], "changed", "")
		mustStand(t, d, "P/b", found["b"], "permission denied", protocol.Permission)
	})
}

// TestReapHeartbeatMoves: a holder was watched for long enough, and beats while other locks are
// removed.
func TestReapHeartbeatMoves(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		dead, slow := d.held(t, "P/a", lease), d.held(t, "P/b", lease)
		time.Sleep(2 * time.Hour)
		d.hook = func(o faulty.Call) error {
			if o.String() == "rmdir "+dead {
				d.beats(t, slow)
			}
			return o.Do()
		}
		found := reaped(t, d, removal)
		mustBeReaped(t, d, "P/a", found["a"])
		mustStand(t, d, slow, found["b"], "heartbeat moves", "")
	})
}

// A sticky Dir, on a file system, keeps us from removing locks.
type sticky struct{ *dated }

func (sticky) Root(string) string { return "" }

func (sticky) MayRemove(name string) bool { return !strings.Contains(name, "L") }

// TestReapSticky: a lock that may not be removed is not emptied either.
func TestReapSticky(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.held(t, "P/L", lease)
		d.held(t, "P/a", lease)
		time.Sleep(2 * time.Hour)
		dry := removal
		dry.Remove = false
		if r := reaped(t, sticky{d}, dry)["L"]; !strings.Contains(r.Note, "sticky") || r.Err != nil {
			t.Errorf("reap says of a sticky lock %+v", r)
		}
		found := reaped(t, sticky{d}, removal)
		mustStand(t, d, "P/L", found["L"], "sticky", protocol.Permission)
		mustBeReaped(t, d, "P/a", found["a"])
		if left := d.All(); len(left) != 4 {
			t.Errorf("reap changed a sticky lock: %q", left)
		}
	})
}

func TestBreakSticky(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		h := newHost("A", sticky{d}, plain)
		held := h.take(t, "exclusive")
		mustFail(t, backendtest.BreakID(t.Context(), h.lock(), held.ID()), protocol.Permission, "sticky")
		mustStillHold(t, held)
		a := newHost("A", sticky{d}, kindOfLock{style: DirStyle})
		mustRelease(t, held)
		held = a.take(t, "exclusive")
		mustWork(t, backendtest.BreakID(t.Context(), a.lock(), held.ID()))
	})
}

// TestReapWatches: reap watches each heartbeat for a quarter of its lease, the shortest lease
// first, and none for longer than was allowed.
func TestReapWatches(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.held(t, "P/day", 24*time.Hour)
		d.held(t, "P/long", 200*time.Second)
		d.held(t, "P/short", 100*time.Second)
		d.has(t, "P/empty")
		time.Sleep(48 * time.Hour)
		begin, at := time.Now(), map[string]time.Duration{}
		d.hook = func(o faulty.Call) error {
			if o.Op == "rmdir" {
				at[o.Name] = time.Since(begin)
			}
			return o.Do()
		}
		found := reaped(t, d, removal)
		for name, want := range map[string]time.Duration{"empty": 0, "short": 26 * time.Second, "long": 52 * time.Second} {
			if !found[name].Removed || at["P/"+name] != want {
				t.Errorf("%s is removed after %v, want %v: %+v", name, at["P/"+name], want, found[name])
			}
		}
		mustStand(t, d, "P/day", found["day"], "--watch 6h14m25s", protocol.Timeout)
		allowed := removal
		allowed.Watch = 6*time.Hour + 14*time.Minute + 25*time.Second
		mustBeReaped(t, d, "P/day", reaped(t, d, allowed)["day"])
	})
}

// TestReapCancelled: reap is cancelled in the middle of a removal, or of the watch after one. It
// finishes what it has begun, and begins nothing more.
func TestReapCancelled(t *testing.T) {
	for _, where := range []string{"removal", "watch"} {
		t.Run(where, func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				first := d.held(t, "P/a", time.Minute)
				d.held(t, "P/b", 2*time.Minute)
				d.held(t, "P/c", 2*time.Minute)
				time.Sleep(2 * time.Hour)
				why := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				d.hook = func(o faulty.Call) error {
					if o.String() == "rmdir "+first {
						if where == "removal" {
							cancel(why)
						} else {
							time.AfterFunc(time.Second, func() { cancel(why) })
						}
					}
					return o.Do()
				}
				begin := time.Now()
				all, err := placeOf(obedient{d, ctx}).Reap(ctx, removal)
				if !errors.Is(err, why) {
					t.Errorf("a reap that is cancelled returns %v", err)
				}
				found := byPath(all)
				mustBeReaped(t, d, "P/a", found["a"])
				for _, name := range []string{"b", "c"} {
					if r := found[name]; !r.Due || r.Removed || !strings.Contains(r.Note, "broken off") || r.Err != nil {
						t.Errorf("of what a cancelled reap did not begin it says %+v", r)
					}
				}
				between(t, "it", time.Since(begin), 15*time.Second, 17*time.Second)
			})
		})
	}
}

// An obedient Dir makes no call when ctx has ended.
type obedient struct {
	*dated
	ctx context.Context
}

func (o obedient) Rmdir(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return o.dated.Rmdir(ctx, name)
}

// TestReapProbe: the probe that tells the server's time does not stay, not even when ctx ends or
// the answer is lost.
func TestReapProbe(t *testing.T) {
	for _, why := range []string{"cancelled", "lost"} {
		t.Run(why, func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				ctx, cancel := context.WithCancel(t.Context())
				d.has(t, "P/lock")
				d.hook = func(o faulty.Call) error {
					err := o.Do()
					if o.Op == "mkdir" {
						if cancel(); why == "lost" {
							return dirs.Outcome(unix.ETIMEDOUT)
						}
					}
					return err
				}
				_, err := placeOf(obedient{d, ctx}).Reap(ctx, removal)
				if why == "lost" {
					mustFail(t, err, protocol.Unreachable, "timed out")
				}
				if left := d.All(); len(left) > 2 {
					t.Errorf("the probe is left behind: %q", left)
				}
			})
		})
	}
}

func mustBeReaped(t *testing.T, d *dated, name string, r backend.Reaped) {
	t.Helper()
	if !r.Due || !r.Removed || r.Note != "" || r.Err != nil || slices.Contains(d.All(), name) {
		t.Errorf("%s is not removed: %+v", name, r)
	}
}

// mustStand makes sure that a directory is there, and that the note says why. With a code, it
// should have been removed, and the error has that code.
func mustStand(t *testing.T, d *dated, name string, r backend.Reaped, says string, code protocol.Code) {
	t.Helper()
	if !slices.Contains(d.All(), name) || r.Removed || r.Due != (code != "") || !strings.Contains(r.Note, says) {
		t.Errorf("%s must stay, with a note why; reap says %+v", name, r)
	}
	if code != "" {
		mustFail(t, r.Err, code, says)
	} else if r.Err != nil {
		t.Error(r.Err)
	}
}
