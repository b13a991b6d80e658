//go:build unix

package cli

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// The pipes between a parent and its helper.
const (
	twoPipes = "a pipe on standard input, too" // Python, Node, Tcl
	oneWay   = "only standard output"          // Perl, C, a shell
)

// TestHeldToTheEnd: which ways of letting go are in good order, with status 0. If a parent lets
// go in another way, mostly by mistake, its helper says so.
func TestHeldToTheEnd(t *testing.T) {
	t.Parallel()
	const early, daemon = "nobody reads our standard output any more, but /dev/stdin is still open", "the parent died, but /dev/std"
	for _, c := range []struct {
		what, pipes string
		last        func(p *otherParent)
		cause       string // on standard error; "" means status 0
	}{
		{"closes its writing end", twoPipes, func(p *otherParent) { p.helper.LetGo() }, ""},
		{"closes both, the writing end first", twoPipes, func(p *otherParent) { p.helper.LetGo(); p.helper.StopReading() }, ""},
		{"closes both, the reading end first", twoPipes, func(p *otherParent) { p.helper.StopReading(); p.helper.LetGo() }, ""},
		{"closes both, and ends", twoPipes, func(p *otherParent) { p.helper.StopReading(); p.helper.LetGo(); p.process.Kill() }, ""},
		{"closes its reading end early", twoPipes, func(p *otherParent) { p.helper.StopReading() }, early},
		{"ends, and a child of its keeps the pipes", twoPipes, func(p *otherParent) { p.process.Kill() }, daemon},

		{"closes its reading end", oneWay, func(p *otherParent) { p.helper.StopReading() }, ""}, // and waits, as close and pclose do
		{"closes its reading end, and ends", oneWay, func(p *otherParent) { p.helper.StopReading(); p.process.Kill() }, ""},
		{"ends, and a child of its keeps the pipe", oneWay, func(p *otherParent) { p.process.Kill() }, daemon},
	} {
		t.Run(c.pipes+"/"+c.what, func(t *testing.T) {
			t.Parallel()
			lock := filepath.Join(t.TempDir(), "lock")
			p := startFor(t, lock, c.pipes)
			c.last(p)
			status := p.helper.Status()
			mustBeFree(t, lock)
			said := p.helper.Stderr()
			switch {
			case c.cause == "" && (status != 0 || said != ""):
				t.Errorf("a release in good order: status %d, want 0: %s", status, said)
			case c.cause != "" && (status != 79 || !strings.Contains(said, c.cause)):
				t.Errorf("a release out of order: status %d, want 79; it says %q, want %q", status, said, c.cause)
			}
		})
	}
}

// An otherParent is a process for which a helper holds a lock. This test has its ends of the
// pipes.
type otherParent struct {
	process *lab.Process
	helper  *lab.Helper
}

func startFor(t *testing.T, lock, pipes string) *otherParent {
	t.Helper()
	parent := lab.Start(t, exec.Command("sleep", "300"))
	cmd := exec.Command("locksmith", "hold", "--parent", strconv.Itoa(parent.PID()), "local:"+lock)
	if pipes == oneWay {
		cmd.Stdin = lab.Null(t)
	}
	helper := lab.Hold(t, cmd)
	helper.Held()
	return &otherParent{parent, helper}
}
