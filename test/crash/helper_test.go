//go:build linux && amd64

package crash

import (
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"locksmith/protocol"
)

// A helper is one locksmith hold. Its parent is this test.
type helper struct {
	p      *place
	cmd    *exec.Cmd
	stdin  io.Closer
	said   chan said
	stderr safeBuffer
	ended  chan struct{}
}

// said is a line of a helper's, and when it was read.
type said struct {
	protocol.Line
	at time.Time
}

// hold starts a helper for the lock of a place.
func (p *place) hold(flags ...string) *helper {
	p.t.Helper()
	h := &helper{p: p, said: make(chan said, 100), ended: make(chan struct{})}
	h.cmd = exec.Command(locksmith(p.t), append(append([]string{"hold"}, flags...), p.at)...)
	h.cmd.Env, h.cmd.Stderr, h.cmd.WaitDelay = p.environment(), &h.stderr, time.Second
	stdin, err1 := h.cmd.StdinPipe()
	stdout, err2 := h.cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		p.t.Fatal(err1, err2)
	}
	h.stdin = stdin
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go h.listen(stdout)
	p.t.Cleanup(func() {
		_ = h.cmd.Process.Kill() // it may have ended
		<-h.ended
	})
	return h
}

// listen passes lines on until there are no more, then waits for the end.
func (h *helper) listen(stdout io.Reader) {
	r := protocol.NewReader(stdout)
	for {
		line, err := r.Read()
		if err != nil {
			break
		}
		h.said <- said{line, time.Now()}
	}
	close(h.said)
	_ = h.cmd.Wait() // its lines tell
	close(h.ended)
}

// next returns the next line, if it comes in time; else one without a word.
func (h *helper) next(within time.Duration) said {
	select {
	case s := <-h.said:
		return s
	case <-time.After(within):
		return said{}
	}
}

// must returns the next line, which must come in time.
func (h *helper) must(word string, within time.Duration) said {
	h.p.t.Helper()
	s := h.next(within)
	if s.Word != word {
		h.p.t.Fatalf("%s: said %q %q, want %s within %v; there is %q; stderr:\n%s", h.p.at, s.Word, s.Text, word, within, h.p.all(), &h.stderr)
	}
	return s
}

// release releases, and returns when that was said to be done.
func (h *helper) release() {
	h.p.t.Helper()
	_ = h.stdin.Close() // it may have ended
	h.must(protocol.WordReleased, waitLimit)
	<-h.ended
}

// A witness counts who has the lock.
type witness struct{ inside atomic.Int32 }

// enter reports that nobody else was inside.
func (w *witness) enter() bool { return w.inside.Add(1) == 1 }
func (w *witness) leave()      { w.inside.Add(-1) }

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may have ended
