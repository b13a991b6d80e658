package watch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// A shelf is a Store. It counts what debug was told of.
type shelf struct {
	text   string
	err    error
	wrongs int
}

func (s *shelf) Load() (string, error) { return s.text, s.err }

func (s *shelf) Save(text string) error {
	if s.err == nil {
		s.text = text
	}
	return s.err
}

func (s *shelf) memory(clock string) *Memory {
	return NewMemory(clock, s, func(error) { s.wrongs++ })
}

// try is one short program: it looks once at a holder, with a memory of its own, and returns
// after what time it may break the holder.
func (s *shelf) try(t *testing.T, r backend.Request, boot string, seen Seen) time.Duration {
	t.Helper()
	m := s.memory(boot)
	r.Clock, r.Memory = clock.Runtime{}, m
	w := New(r)
	o, err := w.Look("x", func(Seen) (Seen, error) {
		seen.Rules = []Rule{w.Rule(seen.Verdict, lease)}
		return seen, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Save()
	return o.Due
}

func silent(id, sign string) Seen {
	return Seen{ID: strings.Repeat(id, 32), Sign: sign, Lasting: true, Verdict: owner.Unknown}
}

// A hangingShelf is a Store that saves only when it is let.
type hangingShelf struct {
	shelf
	let chan struct{}
}

func (s *hangingShelf) Save(text string) error {
	<-s.let
	return s.shelf.Save(text)
}

// TestSaveHangs: a watch goes on while the memory is being saved.
func TestSaveHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &hangingShelf{let: make(chan struct{})}
		m := NewMemory("boot", s, func(error) {})
		id := strings.Repeat("a", 32)
		m.Since(id, "1", 3)
		go m.Save()
		synctest.Wait()
		if since := m.Since(id, "1", 5); since != 3 {
			t.Errorf("while the memory is saved, a sign that was first seen at 3 was seen since %d", since)
		}
		close(s.let)
		synctest.Wait()
		if s.text == "" {
			t.Error("nothing was saved")
		}
	})
}

// TestMemory: tries that look once each watch together. If a thing that must be the same is not,
// a new watch begins.
func TestMemory(t *testing.T) {
	const whole = lease + lease/100
	synctest.Test(t, func(t *testing.T) {
		for what, test := range map[string]struct {
			second Seen
			boot   string
			ask    backend.Request
			want   time.Duration
		}{
			"the same":         {silent("a", "1"), "boot", backend.Request{}, 0},
			"a respite":        {silent("a", "1"), "boot", backend.Request{Grace: whole + grace}, grace},
			"strict":           {silent("a", "1"), "boot", backend.Request{Strict: true}, Never},
			"another sign":     {silent("a", "2"), "boot", backend.Request{}, whole},
			"another holder":   {silent("b", "1"), "boot", backend.Request{}, whole},
			"another boot":     {silent("a", "1"), "later", backend.Request{}, whole},
			"a sign that ends": {Seen{ID: silent("a", "").ID, Sign: "1", Verdict: owner.Unknown}, "boot", backend.Request{}, whole},
			"orphaned":         {Seen{ID: silent("a", "").ID, Sign: "1", Lasting: true, Verdict: owner.Orphaned}, "boot", backend.Request{}, whole},
			"without an id":    {Seen{ID: "a", Sign: "1", Lasting: true, Verdict: owner.Unknown}, "boot", backend.Request{}, whole},
		} {
			s := &shelf{}
			first := s.try(t, test.ask, "boot", silent("a", "1"))
			if test.ask.Strict != (first == Never) || s.text == "" {
				t.Errorf("%s: the first try may break in %v, and remembers %q; want a memory, and Never only if strict", what, first, s.text)
			}
			time.Sleep(2 * whole)
			if got := s.try(t, test.ask, test.boot, test.second); got != test.want {
				t.Errorf("%s: two leases later a try may break in %v, want %v", what, got, test.want)
			}
		}
	})
}

// TestOverdue: a holder that was silent for longer than its lease is overdue for a waiter that
// would never break it for that, and for nobody else.
func TestOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		look := func(r backend.Request) bool {
			m := s.memory("boot")
			r.Clock, r.Memory = clock.Runtime{}, m
			w := New(r)
			o, err := w.Look("x", func(Seen) (Seen, error) {
				seen := silent("a", "1")
				seen.Lease, seen.Rules = lease, []Rule{w.Rule(seen.Verdict, lease)}
				return seen, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			m.Save()
			return o.Holder(time.Now()).Overdue
		}
		strict, patient, usual := backend.Request{Strict: true}, backend.Request{Grace: 100 * lease}, backend.Request{}
		if look(strict) {
			t.Error("a holder that was seen once is overdue")
		}
		time.Sleep(lease + time.Second)
		if !look(strict) || look(patient) || look(usual) {
			t.Errorf("a holder that was silent for more than a lease is overdue: strict %v, with a long grace %v, usually %v; want true, false, false", look(strict), look(patient), look(usual))
		}
	})
}

// TestMemoryOfHeartbeats: a heartbeat between two tries begins a new watch, whichever of them
// writes last. A watch begins when its first look is over.
func TestMemoryOfHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.try(t, backend.Request{}, "boot", silent("a", "1"))
		slow := s.text // of a try that writes late
		time.Sleep(lease)
		s.try(t, backend.Request{}, "boot", silent("a", "2"))
		s.text = slow
		time.Sleep(lease)
		if got := s.try(t, backend.Request{}, "boot", silent("a", "2")); got != 101*time.Second {
			t.Errorf("after a heartbeat, and a late writer that had not seen it, a try may break in %v, want 101s", got)
		}

		m := s.memory("boot")
		w := New(backend.Request{Clock: clock.Runtime{}, Memory: m})
		paused := silent("c", "1")
		paused.Rules = []Rule{{Lease: lease}}
		if _, err := w.Look("x", func(Seen) (Seen, error) { time.Sleep(time.Hour); return paused, nil }); err != nil {
			t.Fatal(err)
		}
		m.Save()
		if got := s.try(t, backend.Request{}, "boot", paused); got != 101*time.Second {
			t.Errorf("after a look that took an hour a try may break in %v, want 101s", got)
		}
		time.Sleep(2 * lease)
		if _, err := w.Look("x", func(Seen) (Seen, error) { return Seen{}, errors.New("no answer") }); err == nil {
			t.Error("Look hides the error of see")
		}
		if o := look(t, w, "1"); o.Due != Never {
			t.Errorf("without a rule a holder may be broken in %v, want Never", o.Due)
		}
		if o, _ := w.Look("x", func(Seen) (Seen, error) { return paused, nil }); o.Due != 0 || o.Silent != 2*lease {
			t.Errorf("after a failed look, a holder that was silent for two leases may be broken in %v, and was silent for %v; want 0 and 200s", o.Due, o.Silent)
		}
	})
}

// TestMemoryIsHarmless: whatever the store holds or does, at worst the watch begins now.
func TestMemoryIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := &shelf{}
		good.try(t, backend.Request{}, "boot", silent("a", "1"))
		check, line, _ := strings.Cut(good.text, "\n")
		resealed := func(body string) string { return good.memory("boot").check(body) + "\n" + body }
		time.Sleep(2 * lease)
		ahead := fmt.Sprint(strings.Repeat("a", 32), " ", short("1"), " ", int64(clock.Runtime{}.Now()+time.Hour), "\n")
		for what, text := range map[string]string{
			"cut":        check + "\n" + line[:len(line)-2],
			"a check":    check,
			"garbage":    "\x00\xff\n\n",
			"two words":  resealed("a b\n"),
			"no time":    resealed(strings.Repeat("a", 32) + " x y\n"),
			"no id":      resealed("a x 17\n"),
			"the future": resealed(ahead),
		} {
			s := &shelf{text: text}
			if got := s.try(t, backend.Request{}, "boot", silent("a", "1")); got != 101*time.Second {
				t.Errorf("with %s in the store a try may break in %v, want 101s", what, got)
			}
			if what != "the future" && s.wrongs != 1 {
				t.Errorf("with %s in the store debug was told of %d, want 1", what, s.wrongs)
			}
			if got := s.try(t, backend.Request{}, "boot", silent("a", "1")); got != 101*time.Second || what != "the future" && s.wrongs != 1 {
				t.Errorf("%s in the store, mended by one try: the next may break in %v, want 101s; debug was told of %d", what, got, s.wrongs)
			}
		}
		full := &shelf{err: errors.New("no space left")}
		if got := full.try(t, backend.Request{}, "boot", silent("a", "1")); got != 101*time.Second || full.wrongs != 2 {
			t.Errorf("with a store that fails a try may break in %v, want 101s; debug was told of %d, want 2", got, full.wrongs)
		}
		if text := good.text; text == "" {
			t.Error("a try saved nothing in a good store")
		}
	})
}

// TestMemoryIsBounded: of many that come and go some are forgotten, first those that only others
// have seen.
func TestMemoryIsBounded(t *testing.T) {
	s := &shelf{}
	m := s.memory("boot")
	for i := range 5 * maxSightings {
		m.Since(fmt.Sprintf("%032x", i), "1", time.Duration(i))
	}
	if len(m.seen) > 2*maxSightings {
		t.Errorf("%d sightings are in memory, more than twice maxSightings", len(m.seen))
	}
	m.Save()
	first := fmt.Sprintf("%032x", 0)
	m = s.memory("boot")
	m.Since(first, "1", 1)
	m.Save()
	if n := strings.Count(s.text, "\n"); n != maxSightings+1 || !strings.Contains(s.text, first) {
		t.Errorf("%d lines were saved, want maxSightings and 1; what this try saw is among them: %v", n, strings.Contains(s.text, first))
	}
	before := s.text
	m = s.memory("boot")
	if got := m.Since(first, "1", 9); got != 1 {
		t.Errorf("a sign that was first seen at 1 is said to be seen first at %v", got)
	}
	s.text = "nothing is written"
	if m.Save(); s.text == before {
		t.Error("Save wrote again though nothing was new")
	}
}

func TestIsFine(t *testing.T) {
	for ns, want := range map[int64]bool{0: false, 2e9: false, 1e6: false, 1_000_100: true, 123_456_789: true} {
		if IsFine(time.Unix(1_700_000_000, ns)) != want {
			t.Errorf("IsFine is wrong for %d ns", ns)
		}
	}
}

// TestMemoryFormat: we load what the first version with a memory saved, and save the same.
func TestMemoryFormat(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	const golden = "db437721ffd6e8b17d465e894e9b5c6b\n" + id + " c4ca4238a0b923820dcc509a6f75849b 5000000000\n"
	s := &shelf{text: golden}
	m := s.memory("boot\nlock")
	if m.load(); s.wrongs != 0 || m.seen[id].since != 5*time.Second || m.format() != golden {
		t.Errorf("the first version's text: debug was told of %d, loaded %v, saved again as %q", s.wrongs, m.seen, m.format())
	}
}
