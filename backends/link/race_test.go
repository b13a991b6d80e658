//go:build unix

package link

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// A mortal is a contender's FS; the contender may die at any call.
type mortal struct {
	FS
	chance int // it dies at one in so many calls; 0: never
}

type death struct{}

// stumble sometimes pauses, and sometimes lets the contender die.
func (m mortal) stumble() {
	if m.chance > 0 && rand.IntN(m.chance) == 0 {
		panic(death{})
	}
	if rand.IntN(4) == 0 {
		time.Sleep(time.Duration(rand.IntN(1500)) * time.Microsecond)
	}
}

func (m mortal) Create(name, content string) error       { m.stumble(); return m.FS.Create(name, content) }
func (m mortal) Link(from, to string) error              { m.stumble(); return m.FS.Link(from, to) }
func (m mortal) Unlink(name string) error                { m.stumble(); return m.FS.Unlink(name) }
func (m mortal) Stat(name string) (lockfile.Stat, error) { m.stumble(); return m.FS.Stat(name) }
func (m mortal) Read(name string) (lockfile.Stat, string, error) {
	m.stumble()
	return m.FS.Read(name)
}

// Await is short, so that somebody tries at every moment.
func (m mortal) Await(context.Context, string, process.Process, time.Duration) {
	time.Sleep(200 * time.Microsecond)
}

// A registry knows who is dead, by the ids that the dead used.
type registry struct{ dead sync.Map }

func (g *registry) judge(r owner.Record) owner.Verdict {
	if _, dead := g.dead.Load(r.ID); dead {
		return owner.Dead
	}
	return owner.Alive
}

// life is the life of one contender: it acquires the lock, then dies sooner or later, or
// releases.
func (g *registry) life(t *testing.T, dir string, chance int, inside *atomic.Int32) {
	l := openLock(t, filepath.Join(dir, "lock"))
	var ids []string
	l.NewID = func() string { ids = append(ids, owner.NewID()); return ids[len(ids)-1] }
	l.Judge = g.judge
	fs := l.NewFS
	l.NewFS = func() FS { return mortal{fs(), chance} }
	in := false
	defer func() {
		if recover() == nil {
			return
		}
		if in {
			inside.Add(-1)
		}
		for _, id := range ids {
			g.dead.Store(id, true)
		}
	}()
	r := backendtest.Request()
	r.Strict = true
	a := attemptOn(t, l, r)
	h := acquired(t, a)
	in = true
	if n := inside.Add(1); n != 1 {
		t.Errorf("%d holders at once", n)
	}
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("a living holder was hit: %v", err)
	}
	in = false
	inside.Add(-1)
	if err := h.Release(t.Context()); err != nil {
		t.Errorf("a contender cannot release: %v", err)
	}
}

func acquired(t *testing.T, a *attempt) backend.Hold {
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	for {
		h, err := a.Try(ctx)
		var held *backend.HeldError
		switch {
		case err == nil:
			return h
		case !errors.As(err, &held):
			t.Errorf("a contender's try fails: %v", err)
			panic(death{})
		}
		if err := a.Wait(ctx); err != nil {
			t.Errorf("a contender waits too long; the lock is held: %v", held)
			panic(death{})
		}
	}
}

// TestMortals: contenders are paused and die at any call, as holders, as waiters, and as breakers
// of the dead. No living holder is ever broken, and nobody is stuck.
func TestMortals(t *testing.T) {
	const contenders, lives = 6, 80
	dir := t.TempDir()
	var g registry
	var inside atomic.Int32
	var wg sync.WaitGroup
	for i := range contenders {
		chance := []int{12, 25, 50}[i%3]
		wg.Go(func() {
			for range lives {
				g.life(t, dir, chance, &inside)
			}
		})
	}
	wg.Wait()
	dead := 0
	g.dead.Range(func(any, any) bool { dead++; return true })
	t.Logf("%d ids of the dead", dead)
	ageIncomplete(t, dir)
	g.life(t, dir, 0, &inside)
	mustBeEmpty(t, dir)
}
