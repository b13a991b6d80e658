//go:build unix

package mkdirlock

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// patience bounds every wait of these tests. No result depends on its length.
const patience = 20 * time.Second

const lease = backendtest.Lease

type bubbleTime = backendtest.BubbleTime

func TestMain(m *testing.M) {
	parts := map[string]func() int{backendtest.RoleUser: playUser}
	for _, k := range everyKind {
		parts[contest(k).Role] = contest(k).Contend
	}
	lab.Main(m, parts)
}

var (
	mustWork        = backendtest.MustWork
	mustFail        = backendtest.MustFail
	mustStillHold   = backendtest.MustStillHold
	mustBePrintable = backendtest.MustBePrintable
	mustBeLost      = backendtest.MustBeLost
	mustRelease     = backendtest.MustRelease
	mustWithdraw    = backendtest.MustWithdraw
	needRoot        = lab.NeedRoot
	publicDir       = backendtest.PublicDir
	mustStay        = backendtest.MustStay
	keep            = backendtest.Keep
	between         = backendtest.Between
)

// A kindOfLock is what makes one lock differ from another.
type kindOfLock struct {
	style  Style
	tokens bool
}

var (
	plain     = kindOfLock{style: PlainStyle}
	dirStyle  = kindOfLock{style: DirStyle}
	numbered  = kindOfLock{DirStyle, true}
	everyKind = []kindOfLock{plain, dirStyle, numbered}
)

func (k kindOfLock) String() string {
	switch k {
	case plain:
		return "plain"
	case dirStyle:
		return "dir without tokens"
	}
	return "dir"
}

// slow is the pace of a lock on a server of FTP.
var slow = Pace{Min: 250 * time.Millisecond, Max: 10 * time.Second, Each: 25 * time.Millisecond}

// A host is a machine whose helpers use the directory.
type host struct {
	backendtest.Host
	dir  dirs.Dir
	kind kindOfLock
	pace Pace
}

func newHost(name string, dir dirs.Dir, k kindOfLock) *host {
	return &host{Host: backendtest.NewHost(name), dir: dir, kind: k, pace: slow}
}

func (h *host) lock() *Lock {
	return &Lock{
		NewDir: func() dirs.Dir { return h.dir }, Name: "L", Style: h.kind.style, Tokens: h.kind.tokens, Address: "mkdir:/L",
		Pace: h.pace, Env: owner.Env{NewID: owner.NewID, Judge: h.Judge, Today: time.Now},
	}
}

// by is a request of a helper of that pid.
func (h *host) by(pid int, mode string) backend.Request {
	r := h.Request(mode)
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
	return h.ask(t, h.Request(mode))
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
	return backendtest.MustHold(t, a).(*hold)
}

func mustBeHeld(t *testing.T, a backend.Attempt) backend.Holder {
	t.Helper()
	return backendtest.MustBeHeld(t, a).Holder
}

func mustBeHeldBy(t *testing.T, a backend.Attempt, h backend.Hold) {
	t.Helper()
	mustBe(t, mustBeHeld(t, a), h)
}

// mustBe makes sure that the holder that was seen is the one that holds the lock.
func mustBe(t *testing.T, seen backend.Holder, h backend.Hold) {
	t.Helper()
	if seen.Record == nil || seen.Record.ID != h.ID() {
		t.Errorf("the lock is held by %+v, want %s", seen, h.ID())
	}
}

// mustAcquire alternates Try and Wait as the helper does, for hours of fake time.
func mustAcquire(t *testing.T, a backend.Attempt) *hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*lease)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Fatalf("Try and Wait by turns do not take the lock within 100 leases (%v): %v", 100*lease, err)
	}
	return h.(*hold)
}

// keepFor keeps the lock for so long, then releases it.
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

// untidy is what should not be left of a free lock.
func untidy(m *memory, k kindOfLock) []string {
	var left []string
	fences := 0
	for _, name := range m.All() {
		switch {
		case k.style == DirStyle && (name == "L" || name == "L/lock"):
		case k.tokens && strings.HasPrefix(name, "L/"+labels.FencePrefix):
			fences++
		default:
			left = append(left, name)
		}
	}
	if fences > 4 {
		left = append(left, fmt.Sprint(fences, " fences"))
	}
	return left
}

func mustBeTidy(t *testing.T, m *memory, k kindOfLock) {
	t.Helper()
	if left := untidy(m, k); len(left) > 0 {
		t.Errorf("a free lock leaves %q", left)
	}
}

func modes(k kindOfLock) []string {
	if k.style == PlainStyle {
		return []string{"exclusive"}
	}
	return []string{"exclusive", "shared"}
}

func name(parts ...any) string { return strings.ReplaceAll(fmt.Sprint(parts...), " ", "_") }
