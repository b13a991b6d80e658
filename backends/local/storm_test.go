//go:build unix

package local

import (
	"bufio"
	"io"
	"locksmith/backends/backendtest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A helperProcess is the real program, at the other end of two pipes.
type helperProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string
}

func buildHelper(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "locksmith")
	if out, err := exec.Command("go", "build", "-o", exe, "locksmith/cmd/locksmith").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
}

func startHelper(t *testing.T, exe, lock string) *helperProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe, "hold", "local:"+lock)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	h := &helperProcess{cmd: cmd, stdin: stdin, lines: make(chan string, 16)}
	go func() {
		defer close(h.lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			h.lines <- s.Text()
		}
	}()
	return h
}

func (h *helperProcess) mustSay(t *testing.T, word string) {
	t.Helper()
	select {
	case line := <-h.lines:
		if got, _, _ := strings.Cut(line, " "); got != word {
			t.Fatalf("the helper said %q, want %s", line, word)
		}
	case <-time.After(patience):
		t.Fatalf("the helper did not say %s", word)
	}
}

func (h *helperProcess) mustRelease(t *testing.T) {
	t.Helper()
	_ = h.stdin.Close()
	h.mustSay(t, "RELEASED")
	if err := h.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// storm sends thousands of signals, each of which may interrupt a system call.
func (h *helperProcess) storm(t *testing.T) {
	t.Helper()
	for range 1000 {
		for _, s := range []unix.Signal{unix.SIGCONT, unix.SIGWINCH, unix.SIGURG, unix.SIGUSR1, unix.SIGUSR2} {
			if err := h.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// isAsleep reports whether the helper has come as far as to watch the file.
// Before, some signals still have their deadly default.
func (h *helperProcess) isAsleep() bool {
	dir := filepath.Join("/proc", strconv.Itoa(h.cmd.Process.Pid), "fd")
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, _ := os.Readlink(filepath.Join(dir, fd.Name())); strings.Contains(to, "inotify") {
			return true
		}
	}
	return false
}

func TestSignalStorm(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		backendtest.Lacking(t, "needs /proc to see when a waiter sleeps")
	}
	exe, path := buildHelper(t), filepath.Join(t.TempDir(), "lock")
	holder := startHelper(t, exe, path)
	holder.mustSay(t, "OK")
	waiter := startHelper(t, exe, path)
	eventually(t, "the waiter sleeps", waiter.isAsleep)
	before := holderID(t, path)
	holder.storm(t)
	waiter.storm(t)
	if after := holderID(t, path); after != before {
		t.Errorf("held by %s, now by %s", before, after)
	}
	holder.mustRelease(t)
	waiter.mustSay(t, "OK")
	waiter.storm(t)
	waiter.mustRelease(t)
	mustBeEmpty(t, filepath.Dir(path))
}

func holderID(t *testing.T, path string) string {
	t.Helper()
	r, err := openLock(t, path).Inspect(t.Context())
	if err != nil || len(r.Holders) != 1 || r.Holders[0].Record == nil {
		t.Fatalf("inspect: %+v, %v", r, err)
	}
	return r.Holders[0].Record.ID
}
