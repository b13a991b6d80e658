//go:build linux

package nfslab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksmith/protocol"
)

// A holder is one locksmith hold on a host, with a parent there.
type holder struct {
	t           *testing.T
	name        string
	cmd         *exec.Cmd
	stdin       io.Closer
	said        chan said
	stderr      safeBuffer
	ended       chan struct{}
	began       time.Duration
	outputEnded time.Duration // when its output ended
}

// said is a line of a helper's, and when it was read.
type said struct {
	protocol.Line
	at time.Duration
}

// hold starts a helper on host k. It has a shell for its parent: one outside of
// the host's pid namespace would be none. The shell's stdin is ours and the
// helper's, so the helper must be told that it is meant.
func hold(t *testing.T, k int, lock string, flags ...string) *holder {
	t.Helper()
	return spawn(t, k, `locksmith hold --stdin watch "$@"; exit $?`, append(flags, address(lock))...)
}

// spawn starts a helper by a shell script, with arguments.
func spawn(t *testing.T, k int, text string, args ...string) *holder {
	t.Helper()
	h := &holder{t: t, name: fmt.Sprintf("host %d: %s", k, strings.Join(args, " ")),
		said: make(chan said, 100), ended: make(chan struct{}), began: now()}
	ctx, cancel := context.WithCancel(context.Background())
	h.cmd = onHost(ctx, k, append([]string{"sh", "-c", text, "parent"}, args...)...)
	h.cmd.Stderr = &h.stderr
	stdin, err1 := h.cmd.StdinPipe()
	stdout, err2 := h.cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	h.stdin = stdin
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go h.listen(stdout)
	t.Cleanup(func() {
		h.kill(helperToo)
		cancel()
		<-h.ended
	})
	return h
}

// listen passes lines on until there are no more, then waits for the end.
func (h *holder) listen(stdout io.Reader) {
	r := protocol.NewReader(stdout)
	for {
		line, err := r.Read()
		if err != nil {
			break
		}
		h.said <- said{line, now()}
	}
	h.outputEnded = now()
	close(h.said)
	_ = h.cmd.Wait()
	close(h.ended)
}

// next returns the next line, which must come in time.
func (h *holder) next(word string, within time.Duration) said {
	h.t.Helper()
	select {
	case s, ok := <-h.said:
		if !ok || s.Word != word {
			h.t.Fatalf("%s: said %q %q, want %s; stderr:\n%s", h.name, s.Word, s.Text, word, &h.stderr)
		}
		return s
	case <-time.After(within):
		h.t.Fatalf("%s: no %s within %v; stderr:\n%s", h.name, word, within, &h.stderr)
		return said{}
	}
}

// held waits until the helper holds the lock.
func (h *holder) held() said {
	h.t.Helper()
	return h.next(protocol.WordOK, waitLimit)
}

// silent makes sure that the helper has said nothing.
func (h *holder) silent() {
	h.t.Helper()
	select {
	case s, ok := <-h.said:
		h.t.Fatalf("%s: said %q %q (open: %v), want nothing; stderr:\n%s", h.name, s.Word, s.Text, ok, &h.stderr)
	default:
	}
}

// letGo tells the helper to release.
func (h *holder) letGo() { _ = h.stdin.Close() }

// release releases, and returns when that was said to be done.
func (h *holder) release() said {
	h.t.Helper()
	h.letGo()
	s := h.next(protocol.WordReleased, waitLimit)
	h.exit(0, waitLimit)
	return s
}

// exit waits for the helper's exit status.
func (h *holder) exit(want int, within time.Duration) {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(within):
		h.t.Fatalf("%s: still there after %v; stderr:\n%s", h.name, within, &h.stderr)
	}
	if got := h.cmd.ProcessState.ExitCode(); got != want {
		h.t.Fatalf("%s: exit status %d, want %d; stderr:\n%s", h.name, got, want, &h.stderr)
	}
}

const (
	helperOnly = iota
	helperToo
)

// kill kills the helper with -9, and its parent too. The helper goes first: it
// would notice that the parent has gone.
func (h *holder) kill(what int) {
	for _, parent := range children(h.cmd.Process.Pid) {
		for _, helper := range children(parent) {
			_ = syscall.Kill(helper, syscall.SIGKILL)
		}
		if what == helperToo {
			_ = syscall.Kill(parent, syscall.SIGKILL)
		}
	}
}

// children returns the processes that pid is the parent of.
func children(pid int) []int {
	var all []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state ppid …; the name may hold anything
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			all = append(all, child)
		}
	}
	return all
}

// A safeBuffer may be read while it is written.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
