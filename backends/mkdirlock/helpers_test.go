package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// patience bounds every wait of these tests; nothing depends on its length.
const patience = 20 * time.Second

const lease = time.Minute

func TestMain(m *testing.M) {
	switch os.Getenv(backendtest.RoleVariable) {
	case "":
		os.Exit(m.Run())
	case roleContender:
		os.Exit(contend())
	case roleUser:
		os.Exit(playUser())
	default:
		panic("unknown role")
	}
}

// bubbleTime is the clock of a synctest bubble since its beginning. That of
// clock.Runtime would be negative: it begins with this process, which is later.
type bubbleTime struct{ clock.Runtime }

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (bubbleTime) Now() time.Duration { return time.Since(bubbleStart) }

// A kindOfLock is what locks differ in.
type kindOfLock struct {
	style  Style
	tokens bool
}

var (
	plain        = kindOfLock{style: PlainStyle}
	tree         = kindOfLock{style: TreeStyle}
	treeNumbered = kindOfLock{TreeStyle, true}
	everyKind    = []kindOfLock{plain, tree, treeNumbered}
)

func (k kindOfLock) String() string {
	switch k {
	case plain:
		return "plain"
	case tree:
		return "dir without tokens"
	}
	return "dir"
}

// slow is the pace of a lock on a server of FTP.
var slow = Pace{Min: 250 * time.Millisecond, Max: 10 * time.Second}

// A host is where helpers run that use the directory. Only there it is known
// which of them are dead.
type host struct {
	name string
	dir  Dir
	kind kindOfLock
	pace Pace
	dead map[int]bool // by pid
}

func newHost(name string, dir Dir, k kindOfLock) *host {
	return &host{name: name, dir: dir, kind: k, pace: slow, dead: map[int]bool{}}
}

func (h *host) lock() *Lock {
	return &Lock{
		NewDir: func() Dir { return h.dir }, Name: "L", Style: h.kind.style, Tokens: h.kind.tokens, Address: "mkdir:/L",
		Pace: h.pace, NewID: owner.NewID, Judge: h.judge, Today: time.Now,
	}
}

func (h *host) judge(r owner.Record) owner.Verdict {
	switch {
	case r.Place.Host != h.name:
		return owner.Unknown
	case h.dead[r.Helper.PID]:
		return owner.Dead
	}
	return owner.Alive
}

func (h *host) request(mode string) backend.Request {
	return backend.Request{
		Owner: owner.Record{Place: owner.Place{Host: h.name}, Helper: process.Process{PID: 1}, User: "tester", Mode: mode, Lease: lease},
		Clock: bubbleTime{},
	}
}

// by is a request of a helper of that pid.
func (h *host) by(pid int, mode string) backend.Request {
	r := h.request(mode)
	r.Owner.Helper.PID = pid
	return r
}

func (h *host) ask(t *testing.T, r backend.Request) *attempt {
	t.Helper()
	a, err := h.lock().Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

func (h *host) want(t *testing.T, mode string) *attempt {
	t.Helper()
	return h.ask(t, h.request(mode))
}

func (h *host) take(t *testing.T, mode string) *hold {
	t.Helper()
	return mustHold(t, h.want(t, mode))
}

// inBubble runs a test on fake time, with one empty directory.
func inBubble(t *testing.T, test func(*testing.T, *memory)) {
	t.Helper()
	inBubbleWith(t, habits{}, test)
}

func inBubbleWith(t *testing.T, h habits, test func(*testing.T, *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newMemory(h)) })
}

// eachKind runs a test in a bubble with a lock of each kind.
func eachKind(t *testing.T, test func(*testing.T, *memory, kindOfLock)) {
	t.Helper()
	for _, k := range everyKind {
		t.Run(k.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) { test(t, m, k) })
		})
	}
}

func mustHold(t *testing.T, a backend.Attempt) *hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hold)
}

func mustBeHeld(t *testing.T, a backend.Attempt) backend.Holder {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("try returned %v, %v, want a HeldError", h, err)
	}
	return held.Holder
}

func mustBeHeldBy(t *testing.T, a backend.Attempt, h backend.Hold) {
	t.Helper()
	mustBe(t, mustBeHeld(t, a), h)
}

// mustBe compares who is seen to hold the lock with who does.
func mustBe(t *testing.T, seen backend.Holder, h backend.Hold) {
	t.Helper()
	if seen.Record == nil || seen.Record.ID != h.ID() {
		t.Errorf("held by %+v, want %s", seen, h.ID())
	}
}

func mustStillHold(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("the holder was hit: %v", err)
	}
}

// mustBeLost: a broken holder finds its entry gone, and hits nobody.
func mustBeLost(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat of the broken: %v", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("release of the broken: %v", err)
	}
}

func mustRelease(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustWithdraw(t *testing.T, a backend.Attempt) {
	t.Helper()
	if err := a.Withdraw(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustWork(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustFail(t *testing.T, err error, code protocol.Code, says string) {
	t.Helper()
	if err == nil || backend.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v (%s), want code %s and %q", err, backend.CodeOf(err), code, says)
	}
}

// mustAcquire alternates Try and Wait as the helper does, for hours of fake time.
func mustAcquire(t *testing.T, a backend.Attempt) *hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*lease)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hold)
}

// keep beats until the test ends, as a holder does.
func keep(t *testing.T, h *hold) {
	t.Helper()
	ctx := t.Context()
	go func() {
		for ctx.Err() == nil {
			_ = h.Heartbeat(ctx)
			clock.Sleep(ctx, bubbleTime{}, lease/4)
		}
	}()
}

// keepFor is keep for so long; then it releases.
func keepFor(t *testing.T, h *hold, d time.Duration) {
	t.Helper()
	ctx := t.Context()
	go func() {
		for end := time.Now().Add(d); time.Now().Before(end); {
			_ = h.Heartbeat(ctx)
			clock.Sleep(ctx, bubbleTime{}, min(lease/4, time.Until(end)))
		}
		_ = h.Release(ctx)
	}()
}

// untidy is what should not be there of a free lock.
func untidy(m *memory, k kindOfLock) []string {
	var left []string
	fences := 0
	for _, name := range m.tree() {
		switch {
		case k.style == TreeStyle && (name == "L" || name == "L/lock"):
		case k.tokens && strings.HasPrefix(name, "L/"+fencePrefix):
			fences++
		default:
			left = append(left, name)
		}
	}
	if fences > keepFences+2 {
		left = append(left, fmt.Sprint(fences, " fences"))
	}
	return left
}

func mustBeTidy(t *testing.T, m *memory, k kindOfLock) {
	t.Helper()
	if left := untidy(m, k); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func between(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s took %v, want %v to %v", what, got, low, high)
	}
}

func modes(k kindOfLock) []string {
	if k.style == PlainStyle {
		return []string{"exclusive"}
	}
	return []string{"exclusive", "shared"}
}

func name(parts ...any) string { return strings.ReplaceAll(fmt.Sprint(parts...), " ", "_") }
