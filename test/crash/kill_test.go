//go:build linux && amd64

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// TestKilledAtAnyCall kills a helper and its parent before and after every system call of an
// acquisition and a release that others see, one call after the other until none is left. The
// next process gets the lock, and never two. What the parent heard is true. Nothing is left that
// should not be.
func TestKilledAtAnyCall(t *testing.T) {
	lab.NotShort(t, "it runs a tracer hundreds of times")
	besideOthers(t)
	rows := ofEachOnDisk(t, func(t *testing.T, k kind) [][]string {
		s := newSeries(k, "before", "after")
		s.run(t, func(t testing.TB, n int) (more bool) { return s.killed(t, plan{Kill: n, Seen: true}) })
		t.Logf("killed at each of %d stops", s.next-1)
		rows := s.calls.rows(k.name)
		if *long {
			s.next, s.over = 1, false
			s.run(t, func(t testing.TB, n int) (more bool) { return s.killed(t, plan{Kill: n, All: true}) })
			t.Logf("and at each of %d stops, with those that nobody sees", s.next-1)
		}
		return rows
	})
	page := section{
		title: "Killed at any system call", text: killedText, judged: judgedAlways, always: true, keys: 2,
		head: []string{"lock", "system call", "killed before it", "killed after it"},
		rows: rows,
	}
	page.publish(t)
}

// ofEachOnDisk runs a test of each kind of lock on a disk, at the same time, and returns their rows.
func ofEachOnDisk(t *testing.T, test func(t *testing.T, k kind) [][]string) [][]string {
	t.Helper()
	all := make([][][]string, len(onDisk))
	t.Run("kinds", func(t *testing.T) {
		for i, k := range onDisk {
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				all[i] = test(t, k)
			})
		}
	})
	return slices.Concat(all...)
}

const killedText = "The helper and its parent are killed with -9 before and after *every* system call of an acquisition\n" +
	"and a release, in all threads. The table has the calls that change something. With `-long` the test\n" +
	"also tries calls that only look at the lock's place, and all others except those of the Go runtime\n" +
	"(futex, mmap, epoll, clone and so on) and those that ask for the process's own names, which change\n" +
	"nothing that others see. Then two more ask for the lock at the same time: both get it, never both\n" +
	"together. When both have released it, only what is documented to stay is left, at the latest after\n" +
	"one more holder has stayed for a few heartbeats. *At once* is by proof: both processes are gone.\n" +
	"*After 5 s*: an entry has no record yet, or no more, so nobody can tell whose it is; the lease is\n" +
	"longer.\n"

// A series is the same life of a lock again and again, each time with a disturbance at the next
// moment.
type series struct {
	kind
	calls outcomes
	swept sync.Map // shapes of leftovers that a holder was seen to sweep

	mu   sync.Mutex
	next int
	over bool
}

func newSeries(k kind, columns ...string) *series {
	return &series{kind: k, next: 1, calls: outcomes{columns: columns}}
}

// run disturbs one life after the other, several at the same time, until a life was not
// disturbed.
func (s *series) run(t *testing.T, disturb func(t testing.TB, n int) (more bool)) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				s.mu.Lock()
				n := s.next
				if s.over || t.Failed() {
					s.mu.Unlock()
					return
				}
				s.next++
				s.mu.Unlock()
				if !disturb(t, n) {
					s.mu.Lock()
					s.over = true
					s.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

func (k kind) flags(more ...string) []string {
	if k.shared {
		more = append(more, "--shared")
	}
	return more
}

// killed runs one life that ends at a stop.
func (s *series) killed(t testing.TB, plan plan) (more bool) {
	n := plan.Kill
	plan.LetGo = true
	p, out := s.life(t, plan, killedLease)
	switch {
	case out.stop == "":
		out.mustBe(t, "exit 0", "OK", "RELEASED")
		return false
	case out.ended != "signal 9":
		t.Errorf("stop %d: not killed: %+v", n, out)
	}
	what := fmt.Sprintf("stop %d, %s", n, out.stop)
	p.judge(what, out)
	want := p.expected()
	came := p.freed(what, want)
	if came != want {
		t.Errorf("%s: %s, want %s", what, came, want)
	}
	if out.changes {
		when, call, _ := strings.Cut(out.stop, " ")
		s.calls.add(n, call, when, came)
	}
	if s.isNew(p.leftovers()) {
		again, _ := s.life(t, plan, sweptLease)
		again.mustBeSwept(what)
	}
	return true
}

// life runs the life of one helper in a place of its own.
func (s *series) life(t testing.TB, plan plan, lease time.Duration) (*place, output) {
	t.Helper()
	p := newPlace(t, s.kind)
	h := p.trace(plan, append(s.flags("hold", "--lease", lease.String()), p.at)...)
	return p, outputOf(h.live(nil))
}

// isNew reports whether leftovers have a shape that was not seen before. Each shape is tried
// once.
func (s *series) isNew(leftovers []string) bool {
	_, known := s.swept.LoadOrStore(fmt.Sprint(leftovers), true)
	return len(leftovers) > 0 && !known
}

// An output is what a parent knows about its helper, and what we know about both.
type output struct {
	stop    string   // where the helper was disturbed
	changes bool     // it was disturbed at a call that changes something
	spared  bool     // the call that was to fail cannot fail
	lines   []string // the first word of each
	ended   string
}

func outputOf(events []event) (t output) {
	for _, e := range events {
		switch e.word {
		case "stop", "change":
			_, t.stop, _ = strings.Cut(e.rest, " ")
			t.changes = e.word == "change"
		case "spared":
			t.spared = true
		case "says":
			word, _, _ := strings.Cut(e.rest, " ")
			t.lines = append(t.lines, word)
		case "ended":
			t.ended, _, _ = strings.Cut(e.rest, " stops=")
		}
	}
	return t
}

func (t output) mustBe(tb testing.TB, ended string, lines ...string) {
	if t.ended != ended || fmt.Sprint(t.lines) != fmt.Sprint(lines) {
		tb.Errorf("%+v, want %s and %q", t, ended, lines)
	}
}

func (t output) last() string {
	if len(t.lines) == 0 {
		return ""
	}
	return t.lines[len(t.lines)-1]
}

// judge checks that the lock is as the parent was told.
func (p *place) judge(what string, t output) {
	p.t.Helper()
	_, status := p.do("status", p.at)
	switch held := strings.Contains(status, "held by"); t.last() {
	case protocol.WordOK:
		// After OK the parent lets go, so the lock may be free already.
	case protocol.WordReleased:
		if held {
			p.t.Errorf("%s: the parent heard RELEASED, but: %s", what, status)
		}
	}
}

// How a lock became free, if that was not at once.
const (
	afterBare = "free after 5 s"
	reaped    = "an empty L: held until `reap`"
)

// expected says, from what a killed process left, how the lock must become free. An entry with
// nothing in it says nothing, but nobody relies on it.
func (p *place) expected() string {
	all := p.all()
	for _, name := range all {
		isEntry := entryPath.MatchString(general(name))
		if isEntry && !slices.ContainsFunc(all, func(in string) bool { return strings.HasPrefix(in, name+"/") }) {
			return afterBare
		}
	}
	if p.isOrphan() {
		return reaped
	}
	return mishaps.AtOnce
}

var entryPath = regexp.MustCompile(`^L(/lock)?/[xs]\.<id>$`)

const (
	// killedLease is the lease of processes that are killed. Nobody waits for it.
	killedLease = time.Hour
	// sweptLease is the lease of processes whose leftovers others sweep when it is over.
	sweptLease = 5 * time.Second
	// bareTime is about how long an entry with nothing in it is left alone.
	bareTime = 5 * time.Second
	// failedLease is the lease of processes whose calls fail. It is so long that no heartbeat
	// comes in between.
	failedLease = 30 * time.Second
)

// freed lets two more processes ask for the lock at the same time, neither of which knows the
// other. Both get it, one after the other. A slow machine may take long for a lock that is free
// at once: it then counts as free at once if that is wanted.
func (p *place) freed(what, want string) (how string) {
	p.t.Helper()
	orphan := p.isOrphan()
	if orphan {
		p.reap(what)
	}
	var w witness
	var both sync.WaitGroup
	begun := time.Now()
	for range 2 {
		h := p.hold("--lease", "1h")
		both.Go(func() { p.visit(what, &w, h) })
	}
	both.Wait()
	switch {
	case orphan:
		return reaped
	case want == afterBare && time.Since(begun) > bareTime*3/4:
		return afterBare
	}
	return mishaps.AtOnce
}

// visit plays the turn of a process that gets the lock.
func (p *place) visit(what string, w *witness, h *lab.Helper) {
	s, err := h.Next()
	if err != nil || s.Word != protocol.WordOK {
		p.t.Errorf("%s: the next one said %q %q (%v); there is %q; stderr:\n%s", what, s.Word, s.Text, err, p.all(), h.Stderr())
		return
	}
	if !w.enter() {
		p.t.Errorf("%s: two holders", what)
	}
	w.leave()
	h.Release()
}

// reap does what an operator does about an empty lock of plain style, later.
func (p *place) reap(what string) {
	p.t.Helper()
	if status, said := p.do("hold", "--timeout", "0", p.at); status != 75 {
		p.t.Errorf("%s: an empty L: exit status %d: %s", what, status, said)
	}
	p.aged(3 * time.Hour) // where times are told to the minute, an hour does not count
	if status, said := p.do("reap", "--max-age", "6m", "--yes", p.reaps); status != 0 {
		p.t.Errorf("%s: reap: exit status %d: %s", what, status, said)
	}
}

// mustBeSwept checks that leftovers are gone after somebody has had the lock for more than a
// lease.
func (p *place) mustBeSwept(what string) {
	p.t.Helper()
	leftovers := p.leftovers()
	for _, name := range p.all() {
		if info, err := os.Stat(filepath.Join(p.dir, name)); p.scheme == "link" && err == nil && info.Size() == 0 {
			p.aged(3 * time.Hour) // only its age says anything about it
		}
	}
	h := p.hold("--lease", "8s", "--refresh", "1s")
	h.Held()
	lab.Eventually(p.t, fmt.Sprintf("%s: sweeping %q", what, leftovers), func() bool {
		return len(p.leftovers()) <= p.ofOneHolder()
	})
	h.Release()
	if left := p.leftovers(); len(left) > 0 {
		p.t.Errorf("%s: left: %q", what, left)
	}
}
