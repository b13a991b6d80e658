//go:build linux && amd64

package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A traced is a helper whose parent is a tracer.
type traced struct {
	t      testing.TB
	cmd    *exec.Cmd // the tracer
	orders io.WriteCloser
	pid    int // the helper
	events chan event
	stderr safeBuffer
	gone   chan struct{} // closed when the tracer has ended
}

// An event is a line of a tracer, and when it came.
type event struct {
	word, rest string
	at         time.Time
}

// start starts a helper, or another command of locksmith, as a plan says.
func (p *place) trace(plan plan, args ...string) *traced {
	p.t.Helper()
	plan.Argv, plan.Dir = slices.Concat(plan.Argv, []string{locksmith(p.t)}, args), p.dir
	text, err := json.Marshal(plan)
	if err != nil {
		p.t.Fatal(err)
	}
	h := &traced{t: p.t, events: make(chan event, 100), gone: make(chan struct{})}
	h.cmd = exec.Command(os.Args[0], "trace", string(text))
	h.cmd.Env, h.cmd.Stderr, h.cmd.WaitDelay = p.environment(), &h.stderr, time.Second
	out, err1 := h.cmd.StdoutPipe()
	in, err2 := h.cmd.StdinPipe()
	if err1 != nil || err2 != nil {
		p.t.Fatal(err1, err2)
	}
	h.orders = in
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go h.listen(out)
	p.t.Cleanup(h.end)
	_, err = fmt.Sscan(h.next("helper").rest, &h.pid)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

func (h *traced) listen(out io.Reader) {
	for s := bufio.NewScanner(out); s.Scan(); {
		word, rest, _ := strings.Cut(s.Text(), " ")
		h.events <- event{word, rest, time.Now()}
	}
	close(h.events)
	_ = h.cmd.Wait() // it was killed, or told its end
	close(h.gone)
}

// next returns the next event, which must be of a kind and come in time.
func (h *traced) next(word string) event {
	h.t.Helper()
	select {
	case e, ok := <-h.events:
		if !ok || e.word != word {
			h.t.Fatalf("%v: %q %q, want %s\n%s", h.cmd.Args[2:], e.word, e.rest, word, &h.stderr)
		}
		return e
	case <-time.After(waitLimit):
		h.t.Fatalf("%v: no %s within %v\n%s", h.cmd.Args[2:], word, waitLimit, &h.stderr)
		return event{}
	}
}

// all waits for the end, which must come in time, and returns what happened till then.
func (h *traced) all() (all []event, ok bool) {
	end := time.After(waitLimit)
	for {
		select {
		case e, more := <-h.events:
			if !more {
				<-h.gone
				return all, true
			}
			all = append(all, e)
		case <-end:
			return all, false
		}
	}
}

func (h *traced) order(order string) { fmt.Fprintln(h.orders, order) }

// end ends what is still there.
func (h *traced) end() {
	select {
	case <-h.gone: // and the helper, unless it was left alone
	default:
		kill(h.pid)
	}
	_ = h.cmd.Process.Kill() // it may have ended
	for range h.events {     // until it has closed its output
	}
	<-h.gone
}

// A safeBuffer may be read while it is written.
type safeBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
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

// event returns the next event, which must come in time.
func (h *traced) event() event {
	h.t.Helper()
	e, ok := h.more()
	if !ok {
		h.t.Fatalf("%v: it has ended\n%s", h.cmd.Args[2:], &h.stderr)
	}
	return e
}

// more returns the next event, if there is one.
func (h *traced) more() (e event, ok bool) {
	h.t.Helper()
	select {
	case e, ok := <-h.events:
		return e, ok
	case <-time.After(waitLimit):
		h.t.Fatalf("%v: nothing more within %v\n%s", h.cmd.Args[2:], waitLimit, &h.stderr)
		return event{}, false
	}
}

// drain waits for the end of the tracer.
func (h *traced) drain() {
	for range h.events { // whatever comes
	}
	<-h.gone
}
