// Package backendtest is the conformance suite: what every backend must do,
// whatever it stands on. A backend joins by a test of its own that calls Run.
package backendtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A Subject is the backend under test.
type Subject struct {
	// New returns a lock nobody uses and the means to look what is left of it.
	New func(t *testing.T) Fixture
	// Shared says that the lock can be shared.
	Shared bool
	// Queue says that waiters stand in a queue that others can see.
	Queue bool
}

// A Fixture is one lock under test.
type Fixture struct {
	// Open returns the lock as a process of its own would open it.
	Open func() backend.Backend
	// Leftovers returns what is stored of the lock; nil once it is free.
	Leftovers func() []string
	// Remove destroys the lock under its holder.
	Remove func()
	// Abandon leaves the hold behind as a process does that dies.
	Abandon func(backend.Hold)
}

// patience bounds every wait of the suite; nothing depends on its length.
const patience = 30 * time.Second

// Request returns a request for an exclusive lock by this process.
func Request() backend.Request {
	self, err := process.Find(os.Getpid())
	if err != nil {
		panic(err) // a test machine without /proc
	}
	return backend.Request{
		Owner: owner.Record{Place: owner.Here(), Helper: self, User: "tester", Mode: "exclusive", Lease: time.Minute},
		Clock: clock.Boot{},
	}
}

// SharedRequest returns a request for a shared lock by this process.
func SharedRequest() backend.Request {
	r := Request()
	r.Owner.Mode = "shared"
	return r
}

// DeadProcess returns a process that has ended.
func DeadProcess(t *testing.T) process.Process {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return p
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	run(t, s, always)
	if s.Shared {
		run(t, s, whereShared)
	}
	if s.Queue {
		run(t, s, whereQueued)
	}
}

func run(t *testing.T, s Subject, cases []testCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, s.New(t)) })
	}
}

type testCase struct {
	name string
	test func(*testing.T, Fixture)
}

var (
	always = []testCase{
		{"acquire and release", acquireRelease},
		{"inspect", inspect},
		{"held tells who", heldTellsWho},
		{"wait ends with release", waitEndsWithRelease},
		{"wait ends with context", waitEndsWithContext},
		{"wait ends with death", waitEndsWithDeath},
		{"ids are never used twice", freshIDs},
		{"never two holders", mutualExclusion},
		{"dead holder is broken", deadHolderBroken},
		{"parent alive keeps the lock until the lease is over", parentAlive},
		{"strict never breaks by lease", strict},
		{"respite", respite},
		{"lost lock is noticed", lossNoticed},
		{"late release of a broken holder hits nothing", lateRelease},
		{"break by id", breakByID},
	}
	whereShared = []testCase{
		{"several share", severalShare},
		{"shared excludes exclusive", sharedExcludesExclusive},
		{"exclusive excludes shared", exclusiveExcludesShared},
		{"a dead one of several is broken", deadSharerBroken},
		{"break one of several by id", breakSharerByID},
		{"tokens", tokens},
		{"never an exclusive holder with others", mixedStress},
		{"newcomers that share leave it to who waits", writerPreference},
	}
	whereQueued = []testCase{
		{"the queue is seen in order", queueSeen},
		{"waiters take their turns", takeTurns},
	}
)

func attempt(t *testing.T, f Fixture, r backend.Request) backend.Attempt {
	t.Helper()
	a, err := f.Open().Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func take(t *testing.T, f Fixture, r backend.Request) backend.Hold {
	t.Helper()
	h, err := attempt(t, f, r).Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustBeHeld(t *testing.T, a backend.Attempt) *backend.HeldError {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("try returned %v, %v, want a HeldError", h, err)
	}
	return held
}

func release(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func nothingLeft(t *testing.T, f Fixture) {
	t.Helper()
	if left := f.Leftovers(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

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
		release(t, h)
	}
	nothingLeft(t, f)
}

func inspect(t *testing.T, f Fixture) {
	look := func() []backend.Holder {
		t.Helper()
		r, err := f.Open().Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Holders
	}
	if hs := look(); len(hs) != 0 {
		t.Errorf("a free lock has holders: %v", hs)
	}
	h := take(t, f, Request())
	hs := look()
	if len(hs) != 1 || hs[0].Record == nil || hs[0].Record.ID != h.ID() || hs[0].Verdict != owner.Alive || hs[0].PID != os.Getpid() {
		t.Errorf("holders: %+v", hs)
	}
	release(t, h)
	if hs := look(); len(hs) != 0 {
		t.Errorf("a released lock has holders: %v", hs)
	}
}

func heldTellsWho(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	defer release(t, h)
	held := mustBeHeld(t, attempt(t, f, Request()))
	if r := held.Holder.Record; r == nil || r.ID != h.ID() || r.User != "tester" {
		t.Errorf("holder: %+v", held.Holder)
	}
}

// waits starts Wait after a Try that found the lock held.
func waits(t *testing.T, ctx context.Context, a backend.Attempt) <-chan error {
	t.Helper()
	mustBeHeld(t, a)
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
	release(t, h)
	if err := mustEnd(t, done); err != nil {
		t.Fatal(err)
	}
	release(t, tryUntilTaken(t, a))
}

func waitEndsWithContext(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	ctx, cancel := context.WithCancel(t.Context())
	a := attempt(t, f, Request())
	done := waits(t, ctx, a)
	cancel()
	if err := mustEnd(t, done); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := a.Withdraw(context.Background()); err != nil {
		t.Error(err)
	}
	release(t, h)
	nothingLeft(t, f)
}

// waitEndsWithDeath: the helper is dead already, its parent dies while we wait.
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
	release(t, tryUntilTaken(t, a))
}

func tryUntilTaken(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h, err := Acquire(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Acquire alternates Try and Wait.
func Acquire(ctx context.Context, a backend.Attempt) (backend.Hold, error) {
	for {
		h, err := a.Try(ctx)
		var held *backend.HeldError
		if !errors.As(err, &held) {
			return h, err
		}
		if err := a.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

func freshIDs(t *testing.T, f Fixture) {
	seen := map[string]bool{}
	a := attempt(t, f, Request())
	for range 20 {
		h, err := a.Try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if seen[h.ID()] {
			t.Fatalf("id %s was used twice", h.ID())
		}
		seen[h.ID()] = true
		release(t, h)
	}
}

func mutualExclusion(t *testing.T, f Fixture) {
	const contenders, rounds = 8, 30
	var inside, total atomic.Int32
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	for range contenders {
		wg.Go(func() {
			for range rounds {
				a, err := f.Open().Attempt(Request())
				if err != nil {
					t.Error(err)
					return
				}
				h, err := Acquire(ctx, a)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				time.Sleep(50 * time.Microsecond)
				total.Add(1)
				inside.Add(-1)
				if err := h.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := total.Load(); got != contenders*rounds {
		t.Errorf("%d rounds, want %d", got, contenders*rounds)
	}
	nothingLeft(t, f)
}

func deadHolderBroken(t *testing.T, f Fixture) {
	r := Request()
	r.Owner.Helper = DeadProcess(t)
	f.Abandon(take(t, f, r))
	strict := Request()
	strict.Strict = true
	release(t, take(t, f, strict))
	nothingLeft(t, f)
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
	mustBeHeld(t, a)
	start := clock.Boot{}.Now()
	h := tryUntilTaken(t, a)
	if d := (clock.Boot{}).Now() - start; d < owner.MinLease*9/10 {
		t.Errorf("broken after %v, the lease is %v", d, owner.MinLease)
	}
	release(t, h)
}

func strict(t *testing.T, f Fixture) {
	f.Abandon(take(t, f, orphaned(t)))
	r := Request()
	r.Strict = true
	a := attempt(t, f, r)
	mustBeHeld(t, a)
	ctx, cancel := context.WithTimeout(t.Context(), owner.MinLease*3/2)
	defer cancel()
	if h, err := Acquire(ctx, a); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", h, err)
	}
}

func respite(t *testing.T, f Fixture) {
	r := Request()
	r.Owner.Helper = DeadProcess(t)
	f.Abandon(take(t, f, r))
	kind := Request()
	kind.Respite = 300 * time.Millisecond
	a := attempt(t, f, kind)
	start := clock.Boot{}.Now()
	mustBeHeld(t, a)
	h := tryUntilTaken(t, a)
	if d := (clock.Boot{}).Now() - start; d < kind.Respite {
		t.Errorf("broken after %v, the respite is %v", d, kind.Respite)
	}
	release(t, h)
}

func lossNoticed(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	f.Remove()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat: %v", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("release: %v", err)
	}
	nothingLeft(t, f)
}

func lateRelease(t *testing.T, f Fixture) {
	late := take(t, f, Request())
	f.Remove()
	h := take(t, f, Request())
	if err := late.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("late release: %v", err)
	}
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("the new holder was hit: %v", err)
	}
	mustBeHeld(t, attempt(t, f, Request()))
	release(t, h)
}

// breakByID is for backends that know how.
func breakByID(t *testing.T, f Fixture) {
	b, ok := f.Open().(backend.Breaker)
	if !ok {
		t.Skip("no backend.Breaker")
	}
	h := take(t, f, Request())
	if err := b.Break(t.Context(), owner.NewID()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("break of an unknown id: %v", err)
	}
	mustStillHold(t, h)
	if err := b.Break(t.Context(), h.ID()); err != nil {
		t.Fatal(err)
	}
	mustBeLost(t, h)
	next := take(t, f, Request())
	if err := b.Break(t.Context(), h.ID()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("break for the second time: %v", err)
	}
	mustStillHold(t, next)
	release(t, next)
	nothingLeft(t, f)
}

func mustStillHold(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("the holder was hit: %v", err)
	}
}

func mustBeLost(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat of a broken holder: %v", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("release of a broken holder: %v", err)
	}
}

func mustWithdraw(t *testing.T, a backend.Attempt) {
	t.Helper()
	if err := a.Withdraw(t.Context()); err != nil {
		t.Error(err)
	}
}

func report(t *testing.T, f Fixture) backend.Report {
	t.Helper()
	r, err := f.Open().Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// share takes the lock n times, together.
func share(t *testing.T, f Fixture, n int) []backend.Hold {
	t.Helper()
	var hs []backend.Hold
	for range n {
		hs = append(hs, take(t, f, SharedRequest()))
	}
	return hs
}

func severalShare(t *testing.T, f Fixture) {
	hs := share(t, f, 3)
	seen := map[string]bool{}
	for _, h := range report(t, f).Holders {
		if h.Record == nil || h.Record.Mode != "shared" || h.Verdict != owner.Alive {
			t.Errorf("holder: %+v", h)
			continue
		}
		seen[h.Record.ID] = true
	}
	for _, h := range hs {
		if !seen[h.ID()] {
			t.Errorf("%s is not among the holders: %v", h.ID(), seen)
		}
		mustStillHold(t, h)
		release(t, h)
	}
	if r := report(t, f); len(r.Holders) > 0 || len(seen) != len(hs) {
		t.Errorf("seen %v, then %+v", seen, r)
	}
	nothingLeft(t, f)
}

// sharedExcludesExclusive until the last of them has gone.
func sharedExcludesExclusive(t *testing.T, f Fixture) {
	hs := share(t, f, 2)
	a := attempt(t, f, Request())
	held := mustBeHeld(t, a)
	if r := held.Holder.Record; r == nil || r.ID != hs[0].ID() && r.ID != hs[1].ID() {
		t.Errorf("holder: %+v", held.Holder)
	}
	release(t, hs[0])
	mustBeHeld(t, a)
	done := waits(t, t.Context(), a)
	release(t, hs[1])
	if err := mustEnd(t, done); err != nil {
		t.Fatal(err)
	}
	release(t, tryUntilTaken(t, a))
	nothingLeft(t, f)
}

// exclusiveExcludesShared until it goes; then they have it together.
func exclusiveExcludesShared(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	got := make(chan backend.Hold, 2)
	for range cap(got) {
		a := attempt(t, f, SharedRequest())
		if held := mustBeHeld(t, a); held.Holder.Record == nil || held.Holder.Record.ID != h.ID() {
			t.Errorf("holder: %+v", held.Holder)
		}
		go func() {
			h, err := Acquire(t.Context(), a)
			if err != nil {
				t.Error(err)
			}
			got <- h
		}()
	}
	mustStillHold(t, h)
	select {
	case <-got:
		t.Fatal("it was shared while somebody had it alone")
	default:
	}
	release(t, h)
	var hs []backend.Hold
	for range cap(got) {
		select {
		case h := <-got:
			hs = append(hs, h)
		case <-time.After(patience):
			t.Fatalf("%d of %d got it", len(hs), cap(got))
		}
	}
	for _, h := range hs {
		mustStillHold(t, h)
		release(t, h)
	}
	nothingLeft(t, f)
}

// deadSharerBroken: an exclusive waiter breaks the dead one and waits for the
// living one.
func deadSharerBroken(t *testing.T, f Fixture) {
	r := SharedRequest()
	r.Owner.Helper = DeadProcess(t)
	before := take(t, f, SharedRequest())
	dead := take(t, f, r)
	f.Abandon(dead)
	after := take(t, f, SharedRequest())
	a := attempt(t, f, Request())
	for range 3 {
		mustBeHeld(t, a)
	}
	mustBeLost(t, dead)
	for _, h := range []backend.Hold{before, after} {
		mustStillHold(t, h)
		mustBeHeld(t, a)
		release(t, h)
	}
	release(t, tryUntilTaken(t, a))
	nothingLeft(t, f)
}

func breakSharerByID(t *testing.T, f Fixture) {
	b, ok := f.Open().(backend.Breaker)
	if !ok {
		t.Skip("no backend.Breaker")
	}
	hs := share(t, f, 3)
	if err := b.Break(t.Context(), hs[1].ID()); err != nil {
		t.Fatal(err)
	}
	mustBeLost(t, hs[1])
	if n := len(report(t, f).Holders); n != 2 {
		t.Errorf("%d holders", n)
	}
	for _, h := range []backend.Hold{hs[0], hs[2]} {
		mustStillHold(t, h)
		release(t, h)
	}
	nothingLeft(t, f)
}

// tokens rise with each exclusive holder. Those who share have one.
func tokens(t *testing.T, f Fixture) {
	var last uint64
	for range 3 {
		h := take(t, f, Request())
		if h.Token() <= last {
			t.Errorf("token %d after %d", h.Token(), last)
		}
		last = h.Token()
		release(t, h)
		hs := share(t, f, 3)
		for _, h := range hs {
			if h.Token() != hs[0].Token() || h.Token() < last || report(t, f).Token != h.Token() {
				t.Errorf("token %d beside %d after %d, reported %d", h.Token(), hs[0].Token(), last, report(t, f).Token)
			}
		}
		last = hs[0].Token()
		for _, h := range hs {
			release(t, h)
		}
	}
}

// A crowd is who is inside at the moment.
type crowd struct {
	exclusive, shared, together atomic.Int32
}

func (c *crowd) enter(t *testing.T, mode string) (leave func()) {
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
	return func() { mine.Add(-1) }
}

func mixedStress(t *testing.T, f Fixture) {
	const contenders, rounds = 8, 20
	var inside crowd
	var total atomic.Int32
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	for i := range contenders {
		wg.Go(func() {
			for round := range rounds {
				r := SharedRequest()
				if (i+round)%3 == 0 {
					r = Request()
				}
				a, err := f.Open().Attempt(r)
				if err != nil {
					t.Error(err)
					return
				}
				h, err := Acquire(ctx, a)
				if err != nil {
					t.Error(err)
					return
				}
				leave := inside.enter(t, r.Owner.Mode)
				time.Sleep(500 * time.Microsecond)
				total.Add(1)
				leave()
				if err := h.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := total.Load(); got != contenders*rounds {
		t.Errorf("%d rounds, want %d", got, contenders*rounds)
	}
	if inside.together.Load() == 0 {
		t.Error("nobody ever shared the lock")
	}
	nothingLeft(t, f)
}

// writerPreference: who would join those that share the lock leaves it to one who
// waits to have it alone, for a lease of its own at most.
func writerPreference(t *testing.T, f Fixture) {
	h := take(t, f, SharedRequest())
	writer := attempt(t, f, Request())
	ctx, cancel := context.WithCancel(t.Context())
	done := waits(t, ctx, writer)
	r := SharedRequest()
	r.Owner.Lease = owner.MinLease
	a := attempt(t, f, r)
	start := clock.Boot{}.Now()
	mustBeHeld(t, a)
	joined := tryUntilTaken(t, a)
	if d := (clock.Boot{}).Now() - start; d < r.Owner.Lease*9/10 {
		t.Errorf("it held back for %v, its lease is %v", d, r.Owner.Lease)
	}
	for _, h := range []backend.Hold{h, joined} {
		mustStillHold(t, h)
		release(t, h)
	}
	if err := mustEnd(t, done); err != nil {
		t.Error(err)
	}
	cancel()
	release(t, tryUntilTaken(t, writer))
	nothingLeft(t, f)
}

// A waiter waits for the lock in the background, and says in its turn that it is
// there.
type waiter struct {
	attempt backend.Attempt
	done    chan error
}

// line lets waiters of these modes come one after the other; each is in the queue
// before the next comes.
func line(t *testing.T, ctx context.Context, f Fixture, modes []string, turn func(i int, h backend.Hold) error) []waiter {
	t.Helper()
	var ws []waiter
	for i, mode := range modes {
		r := Request()
		r.Owner.Mode = mode
		w := waiter{attempt(t, f, r), make(chan error, 1)}
		ws = append(ws, w)
		go func() {
			h, err := Acquire(ctx, w.attempt)
			if err == nil {
				err = turn(i, h)
			}
			w.done <- err
		}()
		for deadline := time.Now().Add(patience); len(report(t, f).Waiters) != i+1; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the queue is %+v after %d came", report(t, f).Waiters, i+1)
			}
		}
		time.Sleep(2 * time.Millisecond) // the queue's order may be no finer than a millisecond
	}
	return ws
}

func queueSeen(t *testing.T, f Fixture) {
	h := take(t, f, Request())
	ctx, cancel := context.WithCancel(t.Context())
	modes := []string{"exclusive", "shared", "exclusive", "shared"}
	ws := line(t, ctx, f, modes, func(int, backend.Hold) error { return errors.New("it got the lock") })
	r := report(t, f)
	if len(r.Holders) != 1 || r.Holders[0].Record == nil || r.Holders[0].Record.ID != h.ID() {
		t.Errorf("holders: %+v", r.Holders)
	}
	for i, w := range r.Waiters {
		if w.Record == nil || w.Record.Mode != modes[i] || w.Verdict != owner.Alive || w.PID != os.Getpid() {
			t.Errorf("number %d in the queue: %+v, want %s", i+1, w, modes[i])
		}
	}
	cancel()
	for _, w := range ws {
		if err := mustEnd(t, w.done); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		mustWithdraw(t, w.attempt)
	}
	if r := report(t, f); len(r.Waiters) > 0 {
		t.Errorf("they withdrew, but there are %+v", r.Waiters)
	}
	release(t, h)
	nothingLeft(t, f)
}

// takeTurns: the queue is a courtesy with a time limit, so a machine that is too
// busy may break its order now and then, but not every time.
func takeTurns(t *testing.T, f Fixture) {
	const tries = 4
	var got []int
	for range tries {
		if got = turns(t, f); slices.IsSorted(got) {
			nothingLeft(t, f)
			return
		}
	}
	t.Errorf("the order was %v, and no better in %d tries before", got, tries-1)
}

// turns returns the order in which three waiters got the lock.
func turns(t *testing.T, f Fixture) []int {
	t.Helper()
	var mu sync.Mutex
	var order []int
	h := take(t, f, Request())
	ws := line(t, t.Context(), f, []string{"exclusive", "exclusive", "exclusive"}, func(i int, h backend.Hold) error {
		mu.Lock()
		order = append(order, i)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		return h.Release(t.Context())
	})
	release(t, h)
	for _, w := range ws {
		if err := mustEnd(t, w.done); err != nil {
			t.Error(err)
		}
	}
	return order
}
