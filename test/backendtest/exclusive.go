package backendtest

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

func acquireRelease(t *testing.T, f Fixture) {
	var last uint64
	for range 3 {
		h := take(t, f, Request())
		if err := h.Heartbeat(t.Context()); err != nil {
			t.Fatal(err)
		}
		if tok := h.Token(); tok != 0 && tok <= last {
			t.Errorf("token %d after %d", tok, last)
		} else {
			last = tok
		}
		MustRelease(t, h)
	}
	nothingLeft(t, f)
}

func inspect(t *testing.T, f Fixture) {
	look := func() []backend.Holder {
		t.Helper()
		r, err := f.Open().Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Holders
	}
	if hs := look(); len(hs) != 0 {
		t.Errorf("Read of a free lock shows %s, want nobody", shown(hs))
	}
	h := take(t, f, Request())
	hs := look()
	if len(hs) != 1 || hs[0].Record == nil || hs[0].Record.ID != h.ID() || hs[0].Verdict != owner.Alive || hs[0].PID != os.Getpid() {
		t.Errorf("Read of a lock that this process holds shows %s; want one holder with the record that Try was given, id %s, the verdict alive and pid %d", shown(hs), h.ID(), os.Getpid())
	}
	MustRelease(t, h)
	if hs := look(); len(hs) != 0 {
		t.Errorf("Read after Release shows %s, want nobody", shown(hs))
	}
}

// looks is how often the lock is looked at beside others.
const looks = 5

// beside looks at the lock, again and again, while others do something.
func beside(t *testing.T, f Fixture, do func() error, look func(backend.Report)) {
	t.Helper()
	over, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				done <- nil
				return
			default:
			}
			if err := do(); err != nil {
				done <- err
				return
			}
		}
	}()
	for range looks {
		look(report(t, f))
	}
	close(over)
	MustWork(t, <-done)
}

// inspectBesideOthers: a look that takes several steps shows a holder, whatever others do meanwhile.
func inspectBesideOthers(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	beside(t, f, func() error {
		a, err := f.Open().Attempt(Request())
		if err != nil {
			return err
		}
		if _, err = a.Try(t.Context()); err == nil {
			return errors.New("a try takes the lock of a living holder")
		}
		return errors.Join(h.Heartbeat(t.Context()), a.Withdraw(t.Context()))
	}, func(r backend.Report) {
		if len(r.Holders) != 1 || r.Holders[0].ID != h.ID() || r.Unseen != "" {
			t.Errorf("Read beside others shows %s, want %s", shown(r.Holders), h.ID())
		}
	})
	MustRelease(t, h)
}

// inspectBesideSharers: a lock that somebody always shares never looks free.
func inspectBesideSharers(t *testing.T, f Fixture) {
	h := take(t, f, SharedRequest())
	beside(t, f, func() error {
		a, err := f.Open().Attempt(SharedRequest())
		if err != nil {
			return err
		}
		next, err := backend.Acquire(t.Context(), a)
		if err != nil {
			return err
		}
		before := h
		h = next
		return before.Release(t.Context())
	}, func(r backend.Report) {
		if len(r.Holders) == 0 {
			t.Error("Read of a lock that is always shared shows nobody")
		}
	})
	MustRelease(t, h)
}

func heldTellsWho(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	defer MustRelease(t, h)
	held := MustBeHeld(t, attempt(t, f, Request()))
	if r := held.Holder.Record; r == nil || r.ID != h.ID() || held.Holder.ID != h.ID() || r.User != "tester" {
		t.Errorf("the HeldError of Try names %s; want the holder's record: id %s, user tester", shown([]backend.Holder{held.Holder}), h.ID())
	}
}

// waits starts Wait after a Try that found the lock held.
func waits(t *testing.T, ctx context.Context, a backend.Attempt) <-chan error {
	t.Helper()
	MustBeHeld(t, a)
	done := make(chan error, 1)
	go func() { done <- a.Wait(ctx) }()
	return done
}

func mustEnd(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("the wait did not end")
		return nil
	}
}

func waitEndsWithRelease(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	a := attempt(t, f, Request())
	done := waits(t, t.Context(), a)
	MustRelease(t, h)
	if err := mustEnd(t, done); err != nil {
		t.Fatal(err)
	}
	MustRelease(t, MustAcquire(t, a))
}

func waitEndsWithContext(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	ctx, cancel := context.WithCancel(t.Context())
	a := attempt(t, f, Request())
	done := waits(t, ctx, a)
	cancel()
	err := mustEnd(t, done)
	if err == nil { // the wait ended because it was time for another try
		err = a.Wait(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := a.Withdraw(context.Background()); err != nil {
		t.Error(err)
	}
	MustRelease(t, h)
	nothingLeft(t, f)
}

// waitEndsWithDeath: the helper is dead already, and its parent dies while we wait.
func waitEndsWithDeath(t *testing.T, f Fixture) {
	parent := exec.Command("sleep", "60")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	r := Request()
	r.Owner.Helper = DeadProcess(t)
	var err error
	if r.Owner.Parent, err = process.Find(parent.Process.Pid); err != nil {
		t.Fatal(err)
	}
	f.Abandon(take(t, f, r))
	a := attempt(t, f, Request())
	done := waits(t, t.Context(), a)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if err := mustEnd(t, done); err != nil {
		t.Fatal(err)
	}
	MustRelease(t, MustAcquire(t, a))
}

func freshIDs(t *testing.T, f Fixture) {
	seen := map[string]bool{}
	for range 20 {
		h := take(t, f, Request())
		if seen[h.ID()] {
			t.Fatalf("id %s was used twice", h.ID())
		}
		seen[h.ID()] = true
		MustRelease(t, h)
	}
}

func mutualExclusion(t *testing.T, f Fixture) {
	contend(t, f, 15, 50*time.Microsecond, func(int) backend.Request { return Request() })
}

// A census counts the holders at the moment.
type census struct {
	exclusive, shared, together, total atomic.Int32
}

func (c *census) enter(t *testing.T, mode string) (leave func()) {
	mine, limit := &c.shared, int32(1000)
	if mode == "exclusive" {
		mine, limit = &c.exclusive, 1
	}
	n := mine.Add(1)
	e, s := c.exclusive.Load(), c.shared.Load()
	if n > limit || e > 0 && s > 0 {
		t.Errorf("%d exclusive and %d shared holders at once", e, s)
	}
	if s > 1 {
		c.together.Add(1)
	}
	c.total.Add(1)
	return func() { mine.Add(-1) }
}

// contend lets several take the lock, each so often, and stay for so long, and counts the
// holders.
func contend(t *testing.T, f Fixture, rounds int, stay time.Duration, request func(i int) backend.Request) *census {
	t.Helper()
	const contenders = 8
	var inside census
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	for i := range contenders {
		wg.Go(func() {
			for round := range rounds {
				r := request(i + round)
				a, err := f.Open().Attempt(r)
				if err != nil {
					t.Error(err)
					return
				}
				h, err := backend.Acquire(ctx, a)
				if err != nil {
					t.Error(err)
					return
				}
				leave := inside.enter(t, r.Owner.Mode)
				time.Sleep(stay)
				leave()
				if err := h.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := inside.total.Load(); int(got) != contenders*rounds {
		t.Errorf("%d rounds, want %d", got, contenders*rounds)
	}
	nothingLeft(t, f)
	return &inside
}

func deadHolderBroken(t *testing.T, f Fixture) {
	r := Request()
	r.Owner.Helper = DeadProcess(t)
	f.Abandon(take(t, f, r))
	strict := Request()
	strict.Strict = true
	var broken []backend.Holder
	strict.Broke = func(_ string, dead backend.Holder) { broken = append(broken, dead) }
	MustRelease(t, take(t, f, strict))
	nothingLeft(t, f)
	if len(broken) != 1 || broken[0].PID != r.Owner.Helper.PID || broken[0].Verdict != owner.Dead {
		t.Errorf("Request.Broke was told of %s; want, once, the holder whose helper %d is dead, with that verdict", shown(broken), r.Owner.Helper.PID)
	}
}

// orphaned is a request whose helper is dead while its parent, this process,
// lives, with the shortest lease.
func orphaned(t *testing.T) backend.Request {
	r := Request()
	r.Owner.Parent, r.Owner.Helper = r.Owner.Helper, DeadProcess(t)
	r.Owner.Lease = owner.MinLease
	return r
}

func parentAlive(t *testing.T, f Fixture) {
	f.Abandon(take(t, f, orphaned(t)))
	a := attempt(t, f, Request())
	start := clock.Boot{}.Now()
	MustBeHeld(t, a)
	h := MustAcquire(t, a)
	if d := (clock.Boot{}).Now() - start; d < owner.MinLease {
		t.Errorf("a holder whose helper is dead, but whose parent lives, was broken after %v; want no sooner than its lease of %v: its verdict is orphaned, not dead", d, owner.MinLease)
	}
	MustRelease(t, h)
}

func strict(t *testing.T, f Fixture) {
	f.Abandon(take(t, f, orphaned(t)))
	r := Request()
	r.Strict = true
	a := attempt(t, f, r)
	MustBeHeld(t, a)
	ctx, cancel := context.WithTimeout(t.Context(), owner.MinLease*3/2)
	defer cancel()
	if h, err := backend.Acquire(ctx, a); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a strict attempt at a silent holder whose parent lives got %s; want to wait until the context ends", outcome(h, err))
	}
}

func gracePeriod(t *testing.T, f Fixture) {
	r := Request()
	r.Owner.Helper = DeadProcess(t)
	f.Abandon(take(t, f, r))
	kind := Request()
	kind.Grace = 300 * time.Millisecond
	a := attempt(t, f, kind)
	start := clock.Boot{}.Now()
	MustBeHeld(t, a)
	h := MustAcquire(t, a)
	if d := (clock.Boot{}).Now() - start; d < kind.Grace {
		t.Errorf("a dead holder was broken after %v; want no sooner than the grace of the request, %v", d, kind.Grace)
	}
	MustRelease(t, h)
}

// ways are the ways in which the lock is destroyed under its holder.
func (f Fixture) ways() map[string]func() {
	all := map[string]func(){"removed": f.Remove}
	maps.Copy(all, f.Removals)
	return all
}

func lossNoticed(t *testing.T, f Fixture) {
	for way, remove := range f.ways() {
		h := take(t, f, Request())
		remove()
		if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
			t.Errorf("%s: Heartbeat of a lock that was removed: %s; want ErrGone", way, outcome(nil, err))
		}
		if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
			t.Errorf("%s: Release of a lock that was removed: %s; want ErrGone", way, outcome(nil, err))
		}
	}
	nothingLeft(t, f)
}

// RemovalsOf are ways to destroy a lock that is a file or a directory.
func RemovalsOf(t *testing.T, path string) map[string]func() {
	return map[string]func(){
		"renamed": func() { MustWork(t, os.Rename(path, filepath.Join(t.TempDir(), "aside"))) },
		"place removed": func() {
			MustWork(t, errors.Join(os.RemoveAll(filepath.Dir(path)), os.Mkdir(filepath.Dir(path), 0o777)))
		},
	}
}

// RemovalsOfGenerations are ways to destroy a lock with numbered generations at path.
func RemovalsOfGenerations(t *testing.T, path string) map[string]func() {
	ways := RemovalsOf(t, path)
	ways["generations removed"] = func() {
		all, err := filepath.Glob(filepath.Join(path, "G", "lock.*"))
		MustWork(t, err)
		for _, name := range all {
			MustWork(t, os.Remove(name))
		}
	}
	return ways
}

// lateRelease: there was no heartbeat since the loss, so the release finds it.
func lateRelease(t *testing.T, f Fixture) {
	for way, remove := range f.ways() {
		late := take(t, f, Request())
		remove()
		h := MustAcquire(t, attempt(t, f, Request())) // in a queue, what is left of the first may be before us
		if err := late.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
			t.Errorf("%s: Release by who has lost the lock, while somebody else has it: %s; want ErrGone", way, outcome(nil, err))
		}
		if err := h.Heartbeat(t.Context()); err != nil {
			t.Errorf("%s: the new holder was hit: %v", way, err)
		}
		next := attempt(t, f, Request())
		MustBeHeld(t, next)
		MustWithdraw(t, next)
		MustRelease(t, h)
	}
}

// tendBeside: while Tend goes on, the helper sends heartbeats and releases. The race detector
// tells what Tend shares with them.
func tendBeside(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	ctx, stop := context.WithCancel(t.Context())
	var tending sync.WaitGroup
	tending.Go(func() {
		_ = h.Tend(ctx)
		for ctx.Err() == nil {
			_ = h.Tend(ctx)
		}
	})
	for range 3 {
		MustStillHold(t, h)
	}
	MustRelease(t, h)
	stop()
	tending.Wait()
}

// breakByID is for backends that can break by id.
func breakByID(t *testing.T, f Fixture) {
	b := f.Open()
	h := take(t, f, Request())
	if err := BreakID(t.Context(), b, owner.NewID()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("Break of an id that nobody has: %s; want ErrGone", outcome(nil, err))
	}
	MustStillHold(t, h)
	err := BreakID(t.Context(), b, h.ID())
	lives := errors.Is(err, backend.ErrLives)
	if lives {
		MustStillHold(t, h)
		f.Abandon(h)
		err = BreakID(t.Context(), b, h.ID())
	}
	if err != nil {
		t.Fatal(err)
	}
	if !lives {
		MustBeLost(t, h)
	}
	next := take(t, f, Request())
	if err := BreakID(t.Context(), b, h.ID()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("Break of an id that was broken before, while somebody else has the lock: %s; want ErrGone", outcome(nil, err))
	}
	MustStillHold(t, next)
	MustRelease(t, next)
	nothingLeft(t, f)
}
