package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// TestNoisyInit: the error names what is wrong with a program that is its own helper.
func TestNoisyInit(t *testing.T) {
	address, path := newLock(t)
	t.Setenv(noise, "1")
	_, err := client.Acquire(t.Context(), address)
	var nonsense *client.ProtocolError
	if !errors.As(err, &nonsense) || !nonsense.Itself || !strings.Contains(err.Error(), "init") {
		t.Errorf("Acquire returns %v, want a ProtocolError that mentions init", err)
	}
	mustBeFree(t, path)
}

// TestNoFiles: too many open files does not mean that the program is missing, and may pass.
func TestNoFiles(t *testing.T) {
	address, _ := newLock(t)
	restore := lab.FewDescriptors(t, 4)
	_, err := client.Acquire(t.Context(), address)
	restore()
	var refused *client.HelperError
	if errors.Is(err, client.ErrNoHelper) || !errors.Is(err, syscall.EMFILE) || !errors.As(err, &refused) || refused.Code != protocol.Internal {
		t.Errorf("without a free descriptor Acquire returns %v", err)
	}
	if err := acquire(t, address).Release(); err != nil {
		t.Error(err)
	}
}

// TestNoProcess: that no process can be made, too, passes, unlike a program that is missing.
func TestNoProcess(t *testing.T) {
	for errno, missing := range map[syscall.Errno]bool{syscall.EAGAIN: false, syscall.ENFILE: false, syscall.ENOMEM: false, syscall.ENOENT: true, syscall.EACCES: true} {
		err := client.NotStarted("local:/x", &os.PathError{Op: "fork/exec", Path: "locksmith", Err: errno})
		var refused *client.HelperError
		if errors.Is(err, client.ErrNoHelper) != missing || !errors.Is(err, errno) || errors.As(err, &refused) == missing {
			t.Errorf("%v: %v", errno, err)
		}
		if refused != nil && (refused.Code != protocol.Internal || !strings.Contains(refused.Text, "local:/x: acquire: start the helper")) {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

// TestWaitedByPolicy: Waited is the time since Acquire began, not since the last helper began.
func TestWaitedByPolicy(t *testing.T) {
	address, _ := newLock(t)
	first := acquire(t, address)
	var told time.Duration
	_, err := client.Acquire(t.Context(), address, client.Wait(func(tries int, waited time.Duration, _ *client.HeldError) (time.Duration, bool) {
		told = waited
		return 100 * time.Millisecond, tries < 3
	}))
	var held *client.HeldError
	if !errors.As(err, &held) || told < 200*time.Millisecond || held.Waited < 200*time.Millisecond {
		t.Errorf("waited is %v for the policy, %v in the error: %v", told, held.Waited, err)
	}
	second := acquire(t, address, client.Wait(func(tries int, _ time.Duration, _ *client.HeldError) (time.Duration, bool) {
		if tries == 3 {
			_ = first.Release()
		}
		return 100 * time.Millisecond, true
	}))
	if second.Waited() < 300*time.Millisecond {
		t.Errorf("Waited of the lock is %v", second.Waited())
	}
}

// TestIndex: Index tells which of several locks is held, however its address is spelled.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	locks := []string{"local:" + dir + "//one", "local:" + dir + "/./two", "local:" + dir + "//three"}
	seen := map[int]bool{}
	for range locks {
		l, err := client.Acquire(t.Context(), locks[0], client.Or(locks[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		if i := l.Index(); i < 0 || i > 2 || seen[i] || filepath.Base(locks[i]) != filepath.Base(l.Address()) {
			t.Errorf("Index of %s is %d", l.Address(), i)
		} else {
			seen[i] = true
		}
	}
	if i := acquire(t, "local:"+dir+"/alone").Index(); i != 0 {
		t.Errorf("Index of a lock alone is %d, want 0", i)
	}
}

// TestStandardError: the helper writes nothing to the service's standard error.
func TestStandardError(t *testing.T) {
	if os.Getenv("CLIENT_TEST_QUIET") != "" {
		address := os.Getenv("CLIENT_TEST_QUIET")
		first := acquire(t, address)
		time.AfterFunc(1500*time.Millisecond, func() { _ = first.Release() })
		second := acquire(t, address) // "locksmith: waiting: …"
		kill(t, helperPID(t, strings.TrimPrefix(address, "local:")))
		<-second.Lost()
		return
	}
	address, _ := newLock(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStandardError$")
	cmd.Env = append(os.Environ(), "CLIENT_TEST_QUIET="+address)
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("release: %v; standard error of the service got %q", err, out.String())
	}
}

// TestSlog: a logger of the standard library gets its level and above, and no more.
func TestSlog(t *testing.T) {
	for level, want := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: false} {
		address, _ := newLock(t)
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
		if err := acquire(t, address, client.Slog(logger)).Release(); err != nil {
			t.Fatal(err)
		}
		if s := out.String(); strings.Contains(s, "msg=acquired") != want || want && !strings.Contains(s, "lock="+address) {
			t.Errorf("at level %v the logger got %q", level, s)
		}
	}
}

// TestReleaseContext: a caller that does not wait for the release learns so from its context's
// error, and the helper goes on.
func TestReleaseContext(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address)
	pid := helperPID(t, path)
	lab.Stop(t, pid)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errWork)
	defer cancel()
	if err := l.ReleaseContext(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errWork) {
		t.Errorf("ReleaseContext returns %v", err)
	}
	if l.Context().Err() == nil {
		t.Error("the lock's context goes on after ReleaseContext")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the lock is removed", func() bool { _, err := os.Lstat(path); return errors.Is(err, os.ErrNotExist) })
	if err := acquire(t, address).ReleaseContext(t.Context()); err != nil {
		t.Error(err)
	}
}
