package interop

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"testing"
	"time"
)

// A holder is a process that has a lock or waits for it.
type holder struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	said  *bytes.Buffer // on standard error; to be read when it has ended
}

// start starts a process that says "held" when it has the lock, and leaves that when
// its input ends.
func start(t *testing.T, cmd *exec.Cmd) *holder {
	t.Helper()
	h := &holder{t: t, cmd: cmd, lines: make(chan string, 100), said: &bytes.Buffer{}}
	var err error
	h.input, err = cmd.StdinPipe()
	mustWork(t, err)
	output, err := cmd.StdoutPipe()
	mustWork(t, err)
	cmd.Stderr, cmd.WaitDelay = h.said, time.Second
	mustWork(t, cmd.Start())
	go func() {
		defer close(h.lines)
		for s := bufio.NewScanner(output); s.Scan(); {
			h.lines <- s.Text()
		}
	}()
	t.Cleanup(h.kill)
	return h
}

// must expects the next line.
func (h *holder) must(want string) {
	h.t.Helper()
	select {
	case line, ok := <-h.lines:
		if !ok {
			_ = h.cmd.Wait()
			h.t.Fatalf("%q ended without %q: %v\n%s", h.cmd.Args, want, h.cmd.ProcessState, h.said)
		}
		if line != want {
			h.t.Fatalf("%q said %q, want %q", h.cmd.Args, line, want)
		}
	case <-time.After(waitLimit):
		h.t.Fatalf("%q did not say %q within %v", h.cmd.Args, want, waitLimit)
	}
}

// waits makes sure that it has not got the lock yet.
func (h *holder) waits() bool {
	select {
	case <-h.lines:
		return false
	case <-time.After(glance):
		return true
	}
}

// refresh gives a sign of life.
func (h *holder) refresh() {
	h.t.Helper()
	_, err := io.WriteString(h.input, "\n")
	mustWork(h.t, err)
	h.must("refreshed")
}

// leave makes it leave the lock and end.
func (h *holder) leave() {
	h.t.Helper()
	mustWork(h.t, h.input.Close())
	for range h.lines { // until it has closed its output
	}
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("%q: %v\n%s", h.cmd.Args, err, h.said)
	}
}

// kill ends it with -9.
func (h *holder) kill() {
	if h.cmd.ProcessState != nil {
		return
	}
	_ = h.cmd.Process.Kill() // it may have ended
	_ = h.cmd.Wait()         // it was killed
}
