package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/cmd/locksmith/cli"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// noise has this program write before client.Init, as the init of a package that it imports may.
const noise = "CLIENT_TEST_NOISE"

// The test binary is its own helper.
func TestMain(m *testing.M) {
	if os.Getenv(noise) != "" {
		fmt.Println("hello")
	}
	client.Init(cli.Main)
	os.Exit(m.Run())
}

// timeout ends a test that hangs.
const timeout = lab.Patience

func newLock(t *testing.T) (address, path string) {
	path = filepath.Join(t.TempDir(), "lock")
	return "local:" + path, path
}

func acquire(t *testing.T, address string, options ...client.Option) *client.Lock {
	t.Helper()
	l, err := client.Acquire(t.Context(), address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Release() })
	return l
}

// answered is what a call with a bound returns when its helper answers in time. A machine may be too
// busy to start the helper within the two seconds that such a call has: then there is another call.
func answered(t *testing.T, call func() (*client.Lock, error)) (l *client.Lock, err error) {
	t.Helper()
	lab.Eventually(t, "a helper answers in time", func() bool {
		l, err = call()
		late, isLate := errors.AsType[*client.HelperError](err)
		return !isLate || !strings.Contains(late.Text, "no answer within ")
	}, func() string { return err.Error() })
	return l, err
}

// refused is the error of TryAcquire of a lock that is held.
func refused(t *testing.T, address string, options ...client.Option) error {
	t.Helper()
	_, err := answered(t, func() (*client.Lock, error) { return client.TryAcquire(t.Context(), address, options...) })
	return err
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// mustBecomeFree is mustBeFree after a loss: then the helper ends behind Release.
func mustBecomeFree(t *testing.T, path string) {
	t.Helper()
	lab.Eventually(t, "the helper removes the lock", func() bool { _, err := os.Lstat(path); return errors.Is(err, os.ErrNotExist) })
}

func mustBeFree(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the release the lock file is still there (Lstat: %v)", err)
	}
}

func mustBeLost(t *testing.T, l *client.Lock, code protocol.Code) {
	t.Helper()
	select {
	case <-l.Lost():
	case <-time.After(timeout):
		t.Fatal("the lock is lost, but Lost stays open: look at listen (lock.go)")
	}
	var lost *client.LostError
	if !errors.As(l.Err(), &lost) || lost.Code != code {
		t.Errorf("Err is %v, want a LostError with code %s", l.Err(), code)
	}
	if cause := context.Cause(l.Context()); !errors.As(cause, &lost) {
		t.Errorf("the cause of Context is %v, want the LostError", cause)
	}
}

// helperPID reads the helper's pid from the lock file.
func helperPID(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestAcquireRelease(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address, client.Lease(20*time.Second), client.Tuning{Respite: time.Second}, client.Strict(), client.Meta(map[string]string{"job": "two words"}))
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), "meta.job=two%20words") || !strings.Contains(string(raw), "lease_ms=20000") {
		t.Errorf("options Lease and Meta are not in the lock file: %q, %v", raw, err)
	}
	if l.ID() == "" || l.Address() != address || l.Token() != 0 || l.Waited() < 0 || l.Context().Err() != nil || l.Err() != nil {
		t.Errorf("a lock that is just taken: %+v; want an id, its address, token 0, and no loss", l)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	mustBeFree(t, path)
	if err := l.Release(); !errors.Is(err, client.ErrReleased) {
		t.Errorf("the second release returns %v, want ErrReleased", err)
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, client.ErrReleased) {
		t.Errorf("after a release the cause of Context is %v, want ErrReleased", cause)
	}
	select {
	case <-l.Lost():
		t.Error("a release counts as a loss")
	default:
	}
}

func TestHeld(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address)
	err := refused(t, address)
	var held *client.HeldError
	if !errors.Is(err, client.ErrHeld) || !errors.As(err, &held) {
		t.Fatalf("TryAcquire of a held lock returns %v, want a HeldError that is ErrHeld", err)
	}
	if held.Holder.ID != l.ID() || held.Holder.PID != helperPID(t, path) || held.Holder.User == "" || !strings.Contains(err.Error(), "held by "+held.Holder.User) {
		t.Errorf("the error names the wrong holder: %+v, text %q", held.Holder, err)
	}
}

func TestCancelledWaitLeavesNothing(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := client.Acquire(ctx, address); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait whose context ends returns %v, want DeadlineExceeded", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	mustBeFree(t, path)
	if _, err := client.Acquire(ctx, address); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire with a context that has ended returns %v, want DeadlineExceeded", err)
	}
}

// TestContextEnds: the end of the caller's context ends the lock's, with its cause, and releases nothing.
func TestContextEnds(t *testing.T) {
	address, _ := newLock(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	l, err := client.Acquire(ctx, address, client.Timeout(timeout)) // whose end does not matter
	if err != nil {
		t.Fatal(err)
	}
	if l.Context().Err() != nil {
		t.Error("the context of a lock that is held has ended")
	}
	cancel(errWork)
	if cause := hasEnded(t, l.Context()); cause != errWork || l.Err() != nil {
		t.Errorf("the cause is %v, the loss %v; want that of the caller, and none", cause, l.Err())
	}
	if err := refused(t, address); !errors.Is(err, client.ErrHeld) {
		t.Errorf("the lock is not held any more: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestLockRemoved(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address, client.Tuning{Refresh: time.Second})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustBeLost(t, l, protocol.Gone)
	var lost *client.LostError
	if err := l.Release(); !errors.As(err, &lost) {
		t.Errorf("release of a lock that somebody removed returns %v, want a LostError", err)
	}
}

// TestMaxHold: a lock that is held for too long is lost, and released.
func TestMaxHold(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address, client.MaxHold(10*time.Millisecond))
	mustBeLost(t, l, protocol.MaxHold)
	if err := l.Release(); !errors.Is(err, l.Err()) {
		t.Errorf("release after MaxHold returns %v, want the loss", err)
	}
	mustBecomeFree(t, path)
}

func TestHelperKilled(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address)
	kill(t, helperPID(t, path))
	mustBeLost(t, l, protocol.Internal)
}

// TestHeartbeats: heartbeats come, and lose no lock.
func TestHeartbeats(t *testing.T) {
	address, path := newLock(t)
	said := path + ".said"
	ours := client.Helper("sh", "-c", `LOCKSMITH_SELF_HELPER=1 "$@" | tee "$0"`, said, os.Args[0])
	l := acquire(t, address, client.Tuning{Refresh: time.Second}, ours)
	lab.Eventually(t, "two heartbeats", func() bool {
		text, err := os.ReadFile(said)
		return err == nil && strings.Count(string(text), "\n"+protocol.WordBeat) >= 2
	})
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	mustBeFree(t, path)
}

func TestNoHelper(t *testing.T) {
	address, _ := newLock(t)
	_, err := client.Acquire(t.Context(), address, client.Helper("/nonexistent/locksmith"))
	if !errors.Is(err, client.ErrNoHelper) {
		t.Errorf("with a helper that does not exist Acquire returns %v, want ErrNoHelper", err)
	}
}

// TestMetaTooLong: metadata that does not fit is the caller's mistake, whether the helper finds
// it out or cannot even be started with it.
func TestMetaTooLong(t *testing.T) {
	for name, size := range map[string]int{"for a record": 5000, "for arguments": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			address, path := newLock(t)
			_, err := client.Acquire(t.Context(), address, client.Meta(map[string]string{"job": strings.Repeat("x", size)}))
			var refused *client.HelperError
			if !errors.As(err, &refused) || refused.Code != protocol.Usage || errors.Is(err, client.ErrNoHelper) {
				t.Fatalf("Acquire returns %.200v, want a HelperError of the code usage", err)
			}
			if text := err.Error(); !strings.Contains(text, "shorten the metadata") || len(text) > 500 {
				t.Errorf("the error says %.200q, want in under 500 bytes to shorten the metadata", text)
			}
			mustBeFree(t, path)
		})
	}
}

func TestHelperSaysNonsense(t *testing.T) {
	address, _ := newLock(t)
	for name, script := range map[string]string{
		"garbage":            "echo hello",
		"garbage, then hang": "echo hello; exec sleep 60",
		"nothing":            "exit 3",
		"other word":         "echo RELEASED held_ms=0",
		"half a line":        "printf OK",
		"endless line":       "exec tr '\\0' x </dev/zero",
		"other version":      "echo OK proto=9; exec sleep 60",
		"OK without lease":   "echo OK proto=1 waited_ms=0; exec cat",
	} {
		_, err := client.Acquire(t.Context(), address, client.Helper("sh", "-c", script), client.KillAfter(100*time.Millisecond))
		var nonsense *client.ProtocolError
		if !errors.As(err, &nonsense) {
			t.Errorf("a helper that says %s: Acquire returns %v, want a ProtocolError", name, err)
		}
	}
}

// TestHelperIsSpared: a helper starts with one processor, whatever its parent was given.
func TestHelperIsSpared(t *testing.T) {
	t.Setenv("GOMAXPROCS", "7")
	address, _ := newLock(t)
	const script = `[ "$GOMAXPROCS" = 1 ] && echo OK proto=1 waited_ms=0 lease_ms=60000 && cat && echo RELEASED held_ms=0`
	l, err := client.Acquire(t.Context(), address, client.Helper("sh", "-c", script))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestHelperHangs(t *testing.T) {
	address, path := newLock(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // when the helper hangs, not before it is started
		for ctx.Err() == nil {
			if _, err := os.Lstat(path); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := client.Acquire(ctx, address, client.Helper("sh", "-c", `: >"$0"; exec sleep 60`, path), client.KillAfter(50*time.Millisecond))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("a helper that hangs: Acquire returns %v, want Canceled, and that the helper was killed", err)
	}
}

func TestHelperHangsInRelease(t *testing.T) {
	address, _ := newLock(t)
	l, err := client.Acquire(t.Context(), address, client.KillAfter(50*time.Millisecond),
		client.Helper("sh", "-c", "echo OK proto=1 waited_ms=0 lease_ms=60000; exec sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	var lost *client.LostError
	if err := l.Release(); !errors.As(err, &lost) {
		t.Errorf("a helper that hangs in its release: Release returns %v, want a LostError", err)
	}
}

// TestWrapperHangsInRelease: Release takes no longer than KillAfter says, even if a wrapper's
// child keeps the pipe open.
func TestWrapperHangsInRelease(t *testing.T) {
	address, path := newLock(t)
	const script = `sleep 60 2>/dev/null & echo $! >"$0"; echo OK proto=1 waited_ms=0 lease_ms=60000; wait`
	l, err := client.Acquire(t.Context(), address, client.KillAfter(50*time.Millisecond), client.Helper("sh", "-c", script, path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { kill(t, helperPID(t, path)) }()
	if err := released(t, l); !errors.As(err, new(*client.LostError)) {
		t.Errorf("Release returns %v, want a LostError", err)
	}
}

// released is what Release returns. The test ends if Release hangs.
func released(t *testing.T, l *client.Lock) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- l.Release() }()
	select {
	case err := <-done:
		return err
	case <-time.After(timeout):
		t.Fatal("Release hangs: look at end (helper.go)")
		return nil
	}
}

// TestWrapperLeavesSomethingRunning: when the helper has ended, a process that keeps the pipe
// open neither holds up Release nor makes a loss of a release in good order.
func TestWrapperLeavesSomethingRunning(t *testing.T) {
	const script = `sleep 60 2>/dev/null & echo $! >"$0"; echo OK proto=1 waited_ms=0 lease_ms=60000; cat; `
	for last, lost := range map[string]bool{"echo RELEASED held_ms=0": false, "exit 1": true} {
		t.Run(last, func(t *testing.T) {
			address, path := newLock(t)
			grace := timeout / 2
			if lost { // Release waits that long
				grace = time.Second
			}
			l, err := client.Acquire(t.Context(), address, client.KillAfter(grace), client.Helper("sh", "-c", script+last, path))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { kill(t, helperPID(t, path)) }()
			if err := released(t, l); errors.As(err, new(*client.LostError)) != lost {
				t.Errorf("Release returns %v; want a LostError only if the helper did not say RELEASED", err)
			}
		})
	}
}

func TestHelperRefuses(t *testing.T) {
	for address, code := range map[string]protocol.Code{
		"nonsense":                  protocol.Config, // there is no such profile
		"./nonsense":                protocol.Usage,
		"local:/nonexistent/a/lock": protocol.CannotCreate,
		"--help":                    protocol.Usage,
	} {
		_, err := client.Acquire(t.Context(), address)
		var refused *client.HelperError
		if !errors.As(err, &refused) || refused.Code != code || refused.Text == "" {
			t.Errorf("Acquire of %s returns %v, want a HelperError with the code in this table", address, err)
		}
	}
	address, _ := newLock(t)
	_, err := client.Acquire(t.Context(), address, client.Shared())
	var refused *client.HelperError
	if !errors.As(err, &refused) || refused.Code != protocol.Usage {
		t.Errorf("a shared local: lock: Acquire returns %v, want a HelperError of the code usage", err)
	}
}

func TestWaitPolicy(t *testing.T) {
	address, _ := newLock(t)
	l := acquire(t, address)
	var asked []int
	_, err := client.Acquire(t.Context(), address, client.Wait(func(tries int, _ time.Duration, held *client.HeldError) (time.Duration, bool) {
		if held.Holder.ID != l.ID() {
			t.Errorf("the policy is told of the wrong holder: %+v", held.Holder)
		}
		asked = append(asked, tries)
		return time.Millisecond, tries < 3
	}))
	if !errors.Is(err, client.ErrGaveUp) || !errors.Is(err, client.ErrHeld) || fmt.Sprint(asked) != "[1 2 3]" {
		t.Errorf("Acquire returns %v after the tries %v; want ErrGaveUp and ErrHeld after [1 2 3]", err, asked)
	}
	second, err := client.Acquire(t.Context(), address, client.Wait(func(tries int, _ time.Duration, _ *client.HeldError) (time.Duration, bool) {
		if tries == 1 {
			_ = l.Release()
		}
		return time.Millisecond, true
	}))
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Release()
}

// TestTimeoutAndRetries: the helper is told how long and how often to try. It tells how long the
// lock was held.
func TestTimeoutAndRetries(t *testing.T) {
	address, _ := newLock(t)
	l := acquire(t, address, client.Lease(time.Minute), client.Tuning{Refresh: time.Second})
	for _, limit := range []client.Option{client.Retries(0), client.Timeout(10 * time.Millisecond)} {
		_, err := answered(t, func() (*client.Lock, error) { return client.Acquire(t.Context(), address, limit) })
		var held *client.HeldError
		if !errors.As(err, &held) || held.Code != protocol.Timeout || held.Holder.ID != l.ID() {
			t.Errorf("Acquire returns %v, want a HeldError of the code timeout with the holder", err)
		}
	}
	if l.HeldFor() != 0 {
		t.Errorf("Held is %v before the release, want 0", l.HeldFor())
	}
	time.Sleep(2 * time.Millisecond)
	if err := l.Release(); err != nil || l.HeldFor() < 2*time.Millisecond || l.Waited() < 0 {
		t.Errorf("Release returns %v; Held is %v, want 2ms at least; Waited is %v", err, l.HeldFor(), l.Waited())
	}
}

// TestAnd: all of several locks are held, or none.
func TestAnd(t *testing.T) {
	dir := t.TempDir()
	one, two, three := "local:"+filepath.Join(dir, "one"), "nfs:"+filepath.Join(dir, "two"), "mkdir:"+filepath.Join(dir, "three")
	set, err := client.Acquire(t.Context(), one, client.And("shared:"+two, three))
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Tokens(); !slices.Equal(got, []uint64{0, 1, 0}) {
		t.Errorf("the tokens of local:, nfs:, mkdir: are %v, want 0, 1, 0", got)
	}
	if ids := strings.Split(set.ID(), ","); len(ids) != 3 {
		t.Errorf("the ids of three locks are %v", ids)
	}
	if err := refused(t, two); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a lock of a set, taken exclusively: TryAcquire returns %v, want ErrHeld", err)
	}
	second := acquire(t, two, client.Shared())
	var held *client.HeldError
	if err := refused(t, three, client.And(one)); !errors.As(err, &held) {
		t.Errorf("a set that overlaps a held one: Acquire returns %v, want a HeldError", err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	if err := set.Release(); err != nil {
		t.Fatal(err)
	}
	mustBeFree(t, filepath.Join(dir, "one"))
	mustBeFree(t, filepath.Join(dir, "three"))
}

// TestOr: Or holds one lock, tells which, and leaves no trace at the others.
func TestOr(t *testing.T) {
	dir := t.TempDir()
	one, two := "nfs:"+filepath.Join(dir, "one"), "local:"+filepath.Join(dir, "two")
	first, err := client.Acquire(t.Context(), one, client.Or(two))
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.Acquire(t.Context(), one, client.Or(two), client.Timeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{first.Address(), second.Address()}; !slices.Contains(got, one) || !slices.Contains(got, two) {
		t.Errorf("two calls hold %v, want one lock each", got)
	}
	if err := refused(t, one, client.Or(two)); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a third call returns %v, want ErrHeld", err)
	}
	if err := errors.Join(first.Release(), second.Release()); err != nil {
		t.Error(err)
	}
	mustBeFree(t, filepath.Join(dir, "two"))
}

// The loss of one lock is the loss of the set, and the others are given back.
func TestSetLoss(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	set, err := client.Acquire(t.Context(), "local:"+one, client.And("local:"+two), client.Tuning{Refresh: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	mustBeLost(t, set, protocol.Gone)
	if err := set.Release(); err == nil {
		t.Error("Release of a lost set returns no error")
	}
	mustBecomeFree(t, two)
}
