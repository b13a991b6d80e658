//go:build unix

package explore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/process"
	"locksmith/test/explorer/actors"
)

// A naive lock is the one in the literature: a symbolic link with a well-known name. Whoever has
// waited long enough removes it by that name.
type naive struct {
	actors.Lock // nothing else is asked of it
	env         actors.Env
	id          string
	since       time.Duration
	seen        string
}

const lockName = "G/lock"

func newNaive(e actors.Env) actors.Lock { return &naive{env: e} }

func (l *naive) dir() symlinks.Dir { return l.env.Dir() }

func (l *naive) Attempt(backend.Request) (backend.Attempt, error) {
	l.id = l.env.NewID()
	return l, nil
}

func (l *naive) Try(context.Context) (backend.Hold, error) {
	if l.dir().Symlink(context.Background(), l.id, lockName) == nil {
		return l, nil
	}
	holder, err := l.dir().Readlink(context.Background(), lockName)
	now := l.env.Clock().Now()
	switch {
	case err != nil || holder != l.seen:
		l.seen, l.since = holder, now
	case now-l.since > testLease:
		_ = l.dir().Unlink(context.Background(), lockName)
	}
	return nil, &backend.HeldError{}
}

func (l *naive) Wait(ctx context.Context) error {
	l.dir().Await(ctx, lockName, process.Process{}, time.Second)
	return nil
}

func (l *naive) Withdraw(context.Context) error { return nil }

func (l *naive) ID() string    { return l.id }
func (l *naive) Token() uint64 { return 1 }

func (l *naive) Heartbeat(context.Context) error { return nil }
func (l *naive) Tend(context.Context) error      { return nil }

func (l *naive) Release(context.Context) error {
	holder, err := l.dir().Readlink(context.Background(), lockName)
	if errors.Is(err, unix.ENOENT) || holder != l.id {
		return backend.ErrGone
	}
	_ = l.dir().Unlink(context.Background(), lockName)
	return nil
}

const testLease = 4 * time.Second

func naiveConfig(adversary Budget) Config {
	role := func(host int) actors.Role {
		return actors.Role{System: newNaive, Host: actors.Host{Number: host}, Rounds: 1}
	}
	return Config{Name: "naive", Lease: testLease, Roles: []actors.Role{role(0), role(1), role(2)}, Adversary: adversary, NoTokens: true}
}

// While nobody breaks it, the naive lock excludes. Otherwise two hold it: a process that is
// paused before it removes the name removes the next holder's lock.
func TestFindsTwoHolders(t *testing.T) {
	x := NewExplorer(naiveConfig(Budget{}))
	defer x.Close()
	if r := x.Search(1e6); !r.Complete || r.Wrong != nil {
		t.Errorf("without adversity: %+v, %+v", r, r.Wrong)
	}
	y := NewExplorer(naiveConfig(Budget{Full: 1}))
	defer y.Close()
	r := y.Search(1e6)
	if r.Wrong == nil {
		t.Fatalf("no violation: %+v", r)
	}
	steps := strings.Join(r.Wrong.Steps, "\n")
	t.Logf("%s\n%s", r.Wrong.What, steps)
	if !strings.Contains(r.Wrong.What, "both hold") || len(r.Wrong.Steps) > 18 || !strings.Contains(steps, "P3: unlink G/lock: ok") {
		t.Errorf("not a short way to two holders: %s", r.Wrong.What)
	}
}

// The same seed goes the same way again, and shortens it in the same way.
func TestWalkIsReproducible(t *testing.T) {
	c := naiveConfig(Budget{Full: 2, Short: 2})
	for number := range uint64(20000) {
		r := Walk(c, 1, number, 500)
		if r.Wrong == nil {
			continue
		}
		again := Walk(c, 1, number, 500)
		if again.Wrong == nil || strings.Join(r.Wrong.Steps, "\n") != strings.Join(again.Wrong.Steps, "\n") {
			t.Errorf("walk %d: %+v, then %+v", number, r.Wrong, again.Wrong)
		}
		return
	}
	t.Error("no walk found two holders")
}

func TestStatesSurviveEncoding(t *testing.T) {
	c := naiveConfig(Budget{Full: 1, Crashes: 1, Lost: 1, Dups: 1, Stale: 1, Torn: 1})
	x := NewExplorer(c)
	defer x.Close()
	w, seen := x.start(), 0
	var visit func(w *world, depth int)
	visit = func(w *world, depth int) {
		b := w.encode(nil)
		v := x.copy(w)
		v.decode(b)
		if string(v.encode(nil)) != string(b) {
			t.Fatalf("%+v became %+v", w, v)
		}
		seen++
		if depth > 0 {
			x.successors(w, func(_ choice, c *world) { visit(x.copy(c), depth-1) })
		}
	}
	visit(w, 3)
	t.Logf("%d states", seen)
}
