//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
	"locksmith/test/faulty"
)

// TestExamineFinds: the right check tells of each thing that may be wrong.
func TestExamineFinds(t *testing.T) {
	inside := func(answer func(faulty.Call, *memory) error) func(faulty.Call, *memory) error {
		return func(o faulty.Call, m *memory) error {
			if strings.Contains(o.Name, "/") {
				return answer(o, m)
			}
			return o.Do()
		}
	}
	for name, c := range map[string]struct {
		p     patient
		check string
		f     backend.Finding
		says  string
		left  bool // what was made cannot be removed
	}{
		"mkdir denied":        {patient{dir: instead("mkdir", denied)}, "make directories", backend.Unfit, "mkdir:/place/ if it is missing", false},
		"mkdir inside denied": {patient{dir: instead("mkdir", inside(denied))}, "make directories", backend.Unfit, "permission denied", false},
		"mkdir twice":         {patient{dir: instead("mkdir", always)}, "exclusive create", backend.Unfit, "two would hold", false},
		"mkdir together":      {patient{dir: instead("mkdir", both())}, "two make the same", backend.Unfit, "in round 1", false},
		"rmdir denied":        {patient{dir: instead("rmdir", denied)}, "remove directories", backend.Unfit, "RMD", true},
		"rmdir denied, told":  {patient{dir: instead("rmdir", denied)}, "clean up", backend.Weak, "mkdir:/place/doctor.", true},
		"rmdir twice":         {patient{dir: instead("rmdir", always)}, "remove directories", backend.Unfit, "both would take it", false},
		"rmdir together":      {patient{dir: instead("rmdir", both())}, "two remove the same", backend.Unfit, "in round 1", false},
		"rmdir removes all":   {patient{dir: instead("rmdir", removeAll)}, "keep what is not empty", backend.Unfit, "with what was in it", false},
		"rmdir empties":       {patient{dir: instead("rmdir", emptyFirst)}, "keep what is not empty", backend.Unfit, "what was in it is gone", false},
		"rmdir is delayed":    {patient{dir: delayed}, "remove what is read", backend.Unfit, "leaves the lock behind", false},
		"rename denied":       {patient{dir: instead("rename", denied)}, "rename to a new name", backend.Unfit, "RNTO", false},
		"rename denied inside": {patient{dir: instead("rename", func(o faulty.Call, _ *memory) error {
			if strings.HasSuffix(o.Name, "/x/1") {
				return unix.EACCES
			}
			return o.Do()
		})}, "heartbeat", backend.Unfit, "permission denied", false},
		"rename refused onto what is there":            {patient{memory: newMemory(habits{noOverwrite: true})}, "rename onto an empty one", backend.Weak, "plain script", false},
		"rename refused onto what is there, dir style": {patient{memory: newMemory(habits{noOverwrite: true}), style: DirStyle}, "rename onto an empty one", backend.Weak, "another command", false},
		"rename moves into":                            {patient{dir: instead("rename", moveInto)}, "rename onto an empty one", backend.Unfit, "not in its new place", false},
		"rename replaces":                              {patient{dir: instead("rename", replace)}, "rename onto a full one", backend.Unfit, "taken from its holder", false},
		"rename together":                              {patient{dir: instead("rename", both())}, "two rename to the same", backend.Unfit, "both were told", false},
		"listing late":                                 {patient{dir: staleFor(2 * time.Second)}, "listing by another", backend.Weak, "for about 2s", false},
		"listing later":                                {patient{dir: staleFor(time.Hour)}, "listing by another", backend.Weak, "5s and more", false},
		"listing late, dir style":                      {patient{dir: staleFor(2 * time.Second), style: DirStyle}, "listing by another", backend.Unfit, "would not see", false},
		"missing is empty":                             {patient{memory: newMemory(habits{missingIsEmpty: true})}, "own listing", backend.Fit, "a missing directory is listed", false},
		"empty is refused":                             {patient{memory: newMemory(habits{emptyIsRefused: true})}, "own listing", backend.Fit, "an empty directory is refused", false},
		"no times":                                     {patient{dir: func(_ int, m *memory) dirs.Dir { return m }}, "times", backend.Unknown, "not told here", false},
		"silent times":                                 {patient{dir: func(_ int, m *memory) dirs.Dir { return timed{Dir: m, silent: true} }}, "times", backend.Weak, "do not tell", false},
		"coarse times":                                 {patient{dir: func(_ int, m *memory) dirs.Dir { return timed{Dir: m} }}, "times", backend.Weak, "the minute", false},
		"backward times":                               {patient{dir: func(_ int, m *memory) dirs.Dir { return timed{Dir: m, precise: true, backwards: true} }}, "times", backend.Weak, "older", false},
		"another clock":                                {patient{}, "clock", backend.Fit, "3s ahead of ours, in a zone +2 hours from UTC", false},
		"one connection": {patient{dir: func(n int, m *memory) dirs.Dir {
			return hooked(m, func(o faulty.Call) error {
				if n > 1 {
					return fmt.Errorf("%w: 421", dirs.ErrBusy)
				}
				return o.Do()
			})
		}}, "two connections", backend.Unknown, "one address", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := c.p
				if p.memory == nil {
					p.memory = newMemory(habits{})
				}
				all, err := p.examine(t.Context())
				i := slices.IndexFunc(all, func(k backend.Check) bool { return k.Name == c.check })
				if err != nil || i < 0 || all[i].Finding != c.f || !strings.Contains(all[i].Text+"\n"+all[i].Advice, c.says) {
					t.Errorf("the check %s must be %s and say %q; doctor returns %v and finds\n%+v", c.check, c.f, c.says, err, all)
				}
				for _, k := range all {
					if k.Finding != backend.Fit && k.Advice == "" {
						t.Errorf("a finding that is not fit has no advice: %+v", k)
					}
				}
				if left := p.All(); (len(left) > 0) != c.left {
					t.Errorf("doctor leaves behind %q", left)
				}
			})
		})
	}
}

// TestExamineFit: a good place is found good, and left as it was.
func TestExamineFit(t *testing.T) {
	for _, c := range []struct {
		style Style
		there bool
	}{{PlainStyle, false}, {PlainStyle, true}, {DirStyle, false}, {DirStyle, true}} {
		t.Run(name(c.style, c.there), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := patient{memory: newMemory(habits{}), style: c.style}
				if c.there {
					mustWork(t, p.Mkdir(t.Context(), "L"), p.Mkdir(t.Context(), "L/lock"))
				}
				before := p.All()
				all, err := p.examine(t.Context())
				if err != nil || backend.Verdict(all) != backend.Fit || len(all) < 15 {
					t.Errorf("doctor of a good place: %v, %+v; want fit, by 15 checks", err, all)
				}
				if left := p.All(); !slices.Equal(left, before) {
					t.Errorf("doctor changed a good place: %q", left)
				}
			})
		})
	}
}

// TestExamineForeignDirectory: a user that may make directories beside L, but not in it, is told so.
func TestExamineForeignDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient{memory: newMemory(habits{}), style: DirStyle}
		mustWork(t, p.Mkdir(t.Context(), "L"))
		p.dir = instead("mkdir", func(o faulty.Call, _ *memory) error {
			if strings.HasPrefix(o.Name, "L/") {
				return dirs.Outcome(unix.ENOENT) // like servers that give no reason
			}
			return o.Do()
		})
		all, err := p.examine(t.Context())
		if err != nil || backend.Verdict(all) != backend.Unfit || !strings.Contains(all[0].Advice, "mkdir:/place/L") {
			t.Errorf("doctor of a lock directory that we may not write to: %v, %+v; want unfit, with advice", err, all)
		}
	})
}

// TestExamineWhileOthersMakeLock: that somebody makes the lock after the examiner looked for it
// is no fault.
func TestExamineWhileOthersMakeLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient{memory: newMemory(habits{}), style: DirStyle}
		made := false
		p.dir = func(_ int, m *memory) dirs.Dir {
			return hooked(timed{Dir: m, precise: true}, func(o faulty.Call) error {
				err := o.Do()
				if !made && o.Op == "mkdir" {
					made = true
					mustWork(t, m.Mkdir(t.Context(), "L"))
				}
				return err
			})
		}
		all, err := p.examine(t.Context())
		if err != nil || backend.Verdict(all) == backend.Unfit || !slices.Equal(p.All(), []string{"L"}) {
			t.Errorf("doctor while others make the lock: %v, %+v; in the end there is %q, want L alone", err, all, p.All())
		}
	})
}

// TestExamineBreaksOff: whenever the place ceases to answer, or the caller gives up, what the
// examiner made is removed.
func TestExamineBreaksOff(t *testing.T) {
	for _, why := range []string{"lost", "cancelled"} {
		t.Run(why, func(t *testing.T) {
			for calls := 1; ; calls++ {
				over := false
				synctest.Test(t, func(t *testing.T) { over = breakOff(t, why, calls) })
				if over {
					t.Logf("%d calls", calls)
					return
				}
			}
		})
	}
}

// breakOff ends an examination at a call. over: the examination had fewer calls.
func breakOff(t *testing.T, why string, calls int) (over bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	made := 0
	p := patient{memory: newMemory(habits{})}
	p.dir = func(_ int, m *memory) dirs.Dir {
		return hooked(m, func(o faulty.Call) error {
			mu.Lock()
			made++
			hit := made == calls
			mu.Unlock()
			if !hit {
				return o.Do()
			}
			if calls%2 == 0 {
				_ = o.Do()
			}
			if why == "cancelled" {
				cancel()
				return fmt.Errorf("%w: %w", dirs.ErrUnclear, context.Canceled)
			}
			return fmt.Errorf("%w: no answer", dirs.ErrUnclear)
		})
	}
	all, err := p.examine(ctx)
	if left := p.All(); len(left) > 0 {
		t.Errorf("broken off at call %d, doctor leaves %q", calls, left)
	}
	switch {
	case made < calls:
		return true
	case backend.Verdict(all) == backend.Unfit:
		t.Errorf("broken off at call %d, doctor calls the place unfit: %+v", calls, all)
	case err != nil && backend.CodeOf(err) != protocol.Unreachable && !errors.Is(err, context.Canceled):
		t.Errorf("broken off at call %d, doctor returns %v", calls, err)
	}
	return false
}

// TestExamineEndsSoon: a caller that gives up does not wait for a place that has become slow or
// hangs, and is told what stays.
func TestExamineEndsSoon(t *testing.T) {
	for _, slow := range []time.Duration{3 * time.Second, time.Hour} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var calls atomic.Int32
				var cancelled time.Time
				p := patient{memory: newMemory(habits{})}
				p.dir = func(_ int, m *memory) dirs.Dir {
					return hooked(m, func(o faulty.Call) error {
						switch n := calls.Add(1); {
						case n == 7:
							cancelled = time.Now()
							cancel()
							return context.Canceled
						case n > 7:
							time.Sleep(slow)
						}
						return o.Do()
					})
				}
				all, _ := p.examine(ctx)
				defer time.Sleep(2 * slow) // until the call that still hangs returns
				between(t, "the end", time.Since(cancelled), 0, dirs.GraceTime)
				if !slices.ContainsFunc(all, func(c backend.Check) bool {
					return c.Name == "clean up" && strings.Contains(c.Text, "may still be there: there was no time")
				}) {
					t.Errorf("doctor does not tell what stays at a hanging place: %+v", all)
				}
			})
		})
	}
}
