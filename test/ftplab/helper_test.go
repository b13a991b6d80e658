package ftplab

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/protocol"
)

// A helper is one locksmith hold. Its parent is this test.
type helper struct {
	t      *testing.T
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
	return p.holdAt(p.address(), flags...)
}

func (p *place) holdAt(address string, flags ...string) *helper {
	p.t.Helper()
	h := &helper{t: p.t, said: make(chan said, 100), ended: make(chan struct{})}
	h.cmd = p.locksmith(context.Background(), append(append([]string{"hold"}, flags...), address)...)
	h.cmd.Stderr = &h.stderr
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

// wait starts a helper for a lock that is held, and returns when it knows by whom. To be
// in the queue is not enough: a server that goes away then is an error to it.
func (p *place) wait(flags ...string) *helper {
	p.t.Helper()
	record := filepath.Join(p.t.TempDir(), "events")
	h := p.hold(append(flags, "--events", record)...)
	eventually(p.t, "it knows that it waits", func() bool {
		text, _ := os.ReadFile(record) // there is none at first
		return bytes.Contains(text, []byte(`"event":"waiting"`))
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
	_ = h.cmd.Wait() // exit tells
	close(h.ended)
}

// next returns the next line, which must come in time.
func (h *helper) next(word string) said {
	h.t.Helper()
	select {
	case s, ok := <-h.said:
		if !ok || s.Word != word {
			h.t.Fatalf("it said %q %q, want %s; stderr:\n%s", h.line(s), s.Text, word, &h.stderr)
		}
		return s
	case <-time.After(waitLimit):
		h.t.Fatalf("no %s within %v; stderr:\n%s", word, waitLimit, &h.stderr)
		return said{}
	}
}

func (h *helper) line(s said) string {
	var fields []string
	for _, f := range s.Fields {
		fields = append(fields, f.Key+"="+f.Value)
	}
	return s.Word + " " + strings.Join(fields, " ")
}

// held waits until the helper holds the lock.
func (h *helper) held() said {
	h.t.Helper()
	return h.next(protocol.WordOK)
}

// silent makes sure that the helper has said nothing.
func (h *helper) silent() {
	h.t.Helper()
	select {
	case s, ok := <-h.said:
		h.t.Errorf("it said %q %q (open: %v), want nothing; stderr:\n%s", h.line(s), s.Text, ok, &h.stderr)
	default:
	}
}

// letGo tells the helper to release.
func (h *helper) letGo() { _ = h.stdin.Close() }

// release releases, and returns when that was said to be done.
func (h *helper) release() {
	h.t.Helper()
	h.letGo()
	h.next(protocol.WordReleased)
	h.exit(0)
}

// exit waits for the helper's exit status.
func (h *helper) exit(want int) {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(waitLimit):
		h.t.Fatalf("it is still there after %v; stderr:\n%s", waitLimit, &h.stderr)
	}
	if got := h.cmd.ProcessState.ExitCode(); got != want {
		h.t.Errorf("exit status %d, want %d; stderr:\n%s", got, want, &h.stderr)
	}
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
