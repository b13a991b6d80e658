package generation

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// TestRefresh: a heartbeat counts from when it was sent, and no longer counts after a lease of
// silence.
func TestRefresh(t *testing.T) {
	const lease = time.Minute
	full := errors.New("full")
	for name, c := range map[string]struct {
		silent, takes time.Duration
		fails         error
		want          error
		confirmed     time.Duration // since the claim was made
	}{
		"in time":         {lease / 2, time.Second, nil, nil, lease / 2},
		"sent in time":    {lease - time.Second, 2 * time.Second, nil, ErrBroken, 0},
		"too late":        {lease, 0, nil, ErrBroken, 0},
		"was not sent":    {lease / 2, 0, full, full, 0},
		"and is too late": {lease, 0, full, full, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := NewClaim(clock.Runtime{}, lease, "id", "")
				made := x.Confirmed
				time.Sleep(c.silent)
				err := x.Refresh(t.Context(), func(context.Context) error { time.Sleep(c.takes); return c.fails })
				if !errors.Is(err, c.want) || x.Confirmed-made != c.confirmed {
					t.Errorf("%v, confirmed after %v, want %v after %v", err, x.Confirmed-made, c.want, c.confirmed)
				}
			})
		})
	}
}

// TestNames: names of successes and notes are read as they were written, and no other names are
// read.
func TestNames(t *testing.T) {
	id := owner.NewID()
	for _, s := range []SuccessNames{{Prefix: "d."}, {Prefix: "s.", Digits: 20}} {
		name := s.Of(7, id)
		if m, ok := s.Parse(name); !ok || m.Number != 7 || m.Name != name {
			t.Errorf("Parse of the name %s: %+v, %t; want number 7", name, m, ok)
		}
		for _, bad := range []string{"", "x" + name, name + "0", name[1:], s.Prefix + "-" + id, s.Prefix + "x-" + id, s.Prefix + "007-" + id} {
			if m, ok := s.Parse(bad); ok {
				t.Errorf("Parse takes %s for a name of ours: %+v", bad, m)
			}
		}
	}
}

// A thing names what a test watches.
type thing string

func (x thing) String() string { return string(x) }

// A fake is a reservation. stays is the error of its removal.
type fake struct {
	Claim
	stays   error
	removed int
}

func (f *fake) Beat(context.Context) error   { return nil }
func (f *fake) Remove(context.Context) error { f.removed++; return f.stays }

// steps is an attempt; the test says what its Take does.
type steps struct {
	Attempt[thing, *fake]
	take  func() (backend.Hold, error)
	races int
}

func (s *steps) Take(context.Context) (backend.Hold, error)       { return s.take() }
func (s *steps) Raced(context.Context) error                      { s.races++; return nil }
func (s *steps) Sleep(context.Context, time.Duration) (_ Noticed) { return }
func (s *steps) Changed(context.Context) (bool, error)            { return true, nil }
func (s *steps) Pause(time.Duration) time.Duration                { return 0 }
func newSteps(take func(s *steps) (backend.Hold, error)) (s *steps) {
	r := backend.Request{Clock: clock.Runtime{}}
	s = &steps{Attempt: NewAttempt[thing, *fake](r, watch.Others[thing]{}, Rules{Lock: "fake:/x"})}
	s.take = func() (backend.Hold, error) { return take(s) }
	return s
}

// TestTry: a broken reservation is removed before another try. One that cannot be removed is not
// used again.
func TestTry(t *testing.T) {
	broken := &fake{}
	tries := 0
	s := newSteps(func(s *steps) (backend.Hold, error) {
		if tries++; tries == 1 {
			s.Mine = broken
			return nil, ErrBroken
		}
		if s.Mine != nil {
			t.Error("the broken reservation is there still")
		}
		return nil, nil
	})
	if _, err := Try(t.Context(), s); err != nil || tries != 2 || broken.removed != 1 {
		t.Errorf("Try with a broken reservation ends with %v after %d tries, %d removals; want success, 2, 1", err, tries, broken.removed)
	}

	full := errors.New("full")
	stuck := &fake{stays: full}
	s = newSteps(func(s *steps) (backend.Hold, error) { s.Mine = stuck; return nil, ErrBroken })
	if _, err := Try(t.Context(), s); !errors.Is(err, full) || !stuck.Spoiled || s.Mine != stuck {
		t.Errorf("Try whose reservation cannot be removed: %v, spoiled: %t; want the removal's error, and spoiled", err, stuck.Spoiled)
	}
	if _, err := Try(t.Context(), s); !errors.Is(err, full) || stuck.removed != 2 {
		t.Errorf("the next Try ends with %v after %d removals, want the removal's error after 2", err, stuck.removed)
	}
}

// TestRaced: an attempt that others always beat gives up for a moment.
func TestRaced(t *testing.T) {
	tries := 0
	s := newSteps(func(*steps) (backend.Hold, error) { tries++; return nil, backend.ErrAgain })
	if _, err := Try(t.Context(), s); err != nil || tries != backend.Races || s.races != 1 {
		t.Errorf("%v after %d tries, raced %d times", err, tries, s.races)
	}
}

// TestStop: as long as the same obstacle is in our way, the time when it began stays.
func TestStop(t *testing.T) {
	s := newSteps(nil)
	for _, c := range []struct {
		now, want time.Duration
		same      bool
	}{{1, 1, false}, {2, 1, true}, {3, 3, false}, {4, 3, true}} {
		err := s.Stop(c.now, Block[thing]{Ahead: 2}, c.same, backend.HeldError{})
		var held *backend.HeldError
		if !errors.As(err, &held) || held.Lock != "fake:/x" || held.Ahead != 2 || s.Block.Reached != c.want {
			t.Errorf("Stop at %d returns %v; what is in our way since %d, want %d", c.now, err, s.Block.Reached, c.want)
		}
	}
}
