//go:build linux && amd64

package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// A traced is a helper whose parent is a tracer. The embedded process is the tracer.
type traced struct {
	*lab.Process
	t      testing.TB
	plan   string
	helper int    // its pid
	first  *event // comes before all others
}

// An event is a line from a tracer, with the time at which it came.
type event struct {
	word, rest string
	at         time.Time
}

// planVariable contains the plan of a tracer, in JSON.
const planVariable = "LOCKSMITH_TEST_PLAN"

// trace starts a helper, or another command of locksmith, as a plan says.
func (p *place) trace(plan plan, args ...string) *traced {
	p.t.Helper()
	plan.Argv, plan.Dir = slices.Concat(plan.Argv, p.locksmith(args...).Args), p.dir
	text, err := json.Marshal(plan)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := lab.Copy("trace", append(p.env, planVariable+"="+string(text))...)
	h := &traced{Process: lab.Start(p.t, cmd), t: p.t, plan: string(text)}
	if _, err := fmt.Sscan(h.next("helper").rest, &h.helper); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		select {
		case <-h.Ended(): // and so has the helper, unless it was left alone
		default:
			kill(h.helper)
		}
	})
	return h
}

// tracing is the main function of the tracer's process.
func tracing() int {
	if err := trace(os.Getenv(planVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// more returns the next event, if there is one.
func (h *traced) more() (e event, ok bool) {
	h.t.Helper()
	if first := h.first; first != nil {
		h.first = nil
		return *first, true
	}
	line, err := h.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		h.t.Fatalf("%s: %v\n%s", h.plan, err, h.Stderr())
	}
	word, rest, _ := strings.Cut(line.Text, " ")
	return event{word, rest, line.At}, err == nil
}

// event returns the next event, which must come.
func (h *traced) event() event {
	h.t.Helper()
	e, ok := h.more()
	if !ok {
		h.t.Fatalf("%s: it has ended\n%s", h.plan, h.Stderr())
	}
	return e
}

// next returns the next event, which must be of this kind.
func (h *traced) next(word string) event {
	h.t.Helper()
	e := h.event()
	if e.word != word {
		h.t.Fatalf("%s: %q %q, want %s\n%s", h.plan, e.word, e.rest, word, h.Stderr())
	}
	return e
}

// live follows a helper to its end. It lets the helper release once the helper holds the lock and
// the test has looked. A plan may let it release earlier.
func (h *traced) live(look func()) (all []event) {
	h.t.Helper()
	for {
		e, more := h.more()
		if !more {
			h.Status()
			return all
		}
		all = append(all, e)
		if look != nil && e.word == "says" && strings.HasPrefix(e.rest, protocol.WordOK) {
			look()
			h.order("letgo")
		}
	}
}

func (h *traced) order(order string) { fmt.Fprintln(h.Stdin, order) }
