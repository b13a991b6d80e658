//go:build unix

package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// freezes is a helper that stops before its first line, as one does whose program or whose disk
// hangs. It writes its pid to a file first.
func freezes(t *testing.T) (script, pids string) {
	t.Helper()
	dir := t.TempDir()
	script, pids = filepath.Join(dir, "locksmith"), filepath.Join(dir, "pids")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $$ >>"+pids+"\nkill -STOP $$\nexec sleep 300\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return script, pids
}

// reads returns the pids in a file. Without the file no helper came so far that it wrote one.
func reads(t *testing.T, pids string) (all []int) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// comesBack fails if a call does not return.
func comesBack(t *testing.T, call func()) {
	t.Helper()
	begun, done := time.Now(), make(chan struct{})
	go func() { defer close(done); call() }()
	select {
	case <-done:
		t.Logf("back after %v", time.Since(begun).Round(time.Millisecond))
	case <-time.After(timeout / 4):
		t.Fatalf("it is not back after %v", timeout/4)
	}
}

// TestFrozenHelper: each call that has a bound comes back though its helper is stopped before its
// first line. That helper is killed behind the call, so it never has the lock for nobody.
func TestFrozenHelper(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, options ...client.Option) error{
		"TryAcquire": func(ctx context.Context, options ...client.Option) error {
			_, err := client.TryAcquire(ctx, "local:/x", options...)
			return err
		},
		"Do with Timeout": func(ctx context.Context, options ...client.Option) error {
			return client.Do(ctx, "local:/x", func(context.Context) error { return nil }, append(options, client.Timeout(200*time.Millisecond))...)
		},
		"a policy with Timeout": func(ctx context.Context, options ...client.Option) error {
			policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) { return time.Hour, true })
			_, err := client.Acquire(ctx, "local:/x", append(options, policy, client.Timeout(200*time.Millisecond))...)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			script, pids := freezes(t)
			var err error
			comesBack(t, func() { err = call(t.Context(), client.Helper(script), client.KillAfter(100*time.Millisecond)) })
			unanswered, ok := errors.AsType[*client.HelperError](err)
			if !ok || unanswered.Code != protocol.Unreachable || !strings.Contains(unanswered.Text, "local:/x: no answer within ") {
				t.Errorf("it says %v, want that there was no answer", err)
			}
			for _, pid := range reads(t, pids) {
				lab.Eventually(t, "the helper is killed, though it is stopped", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
			}
		})
	}
}

// TestCancelledAtOnce: the end of a context ends the call, however long the helper has to end.
func TestCancelledAtOnce(t *testing.T) {
	script, pids := freezes(t)
	t.Setenv("LOCKSMITH", script)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(pids); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	comesBack(t, func() {
		if _, err := client.Acquire(ctx, "local:/x", client.KillAfter(time.Hour)); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "has not ended yet") {
			t.Errorf("the error is %v, want Canceled, and that the helper has not ended", err)
		}
	})
	kill(t, reads(t, pids)[0])
}

// TestDoAfterLoss: once a loss is known, Do returns when the work has ended.
func TestDoAfterLoss(t *testing.T) {
	address, path := newLock(t)
	pid := 0
	comesBack(t, func() {
		err := client.Do(t.Context(), address, func(ctx context.Context) error {
			pid = helperPID(t, path)
			lab.Stop(t, pid)
			return hasEnded(t, ctx)
		}, client.Lease(2*time.Second), client.KillAfter(time.Hour))
		if lost, ok := errors.AsType[*client.LostError](err); !ok || lost.Code != protocol.Expired {
			t.Errorf("it says %v, want a loss", err)
		}
	})
	kill(t, pid)
}

// TestErrorAtOnce: a helper that has said why it has no lock, and hangs then, holds up nobody.
func TestErrorAtOnce(t *testing.T) {
	_, path := newLock(t)
	comesBack(t, func() {
		helper := client.Helper("sh", "-c", `echo $$ >"$0"; echo ERR code=held text=held by alice; exec sleep 300`, path)
		if err := refused(t, "local:/x", helper, client.KillAfter(time.Hour)); !errors.Is(err, client.ErrHeld) {
			t.Error(err)
		}
	})
	kill(t, helperPID(t, path))
}
