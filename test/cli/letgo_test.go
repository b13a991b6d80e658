package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What a parent and its helper have between them.
const (
	twoPipes = "a pipe on standard input, too" // Python, Node, Tcl
	oneWay   = "only standard output"          // Perl, C, a shell
)

// TestHeldToTheEnd: which ways of letting go are one in good order, which has status 0.
// A helper whose parent lets go in another way, mostly by mistake, says so.
func TestHeldToTheEnd(t *testing.T) {
	const early, daemon = "nobody reads our standard output any more, but /dev/stdin is still open", "the parent died, but /dev/std"
	for _, c := range []struct {
		what, pipes string
		last        func(p *otherParent)
		cause       string // on standard error; "" has status 0
	}{
		{"closes its writing end", twoPipes, func(p *otherParent) { p.to.Close() }, ""},
		{"closes both, the writing end first", twoPipes, func(p *otherParent) { p.to.Close(); p.from.Close() }, ""},
		{"closes both, the reading end first", twoPipes, func(p *otherParent) { p.from.Close(); p.to.Close() }, ""},
		{"closes both, and ends", twoPipes, func(p *otherParent) { p.from.Close(); p.to.Close(); p.die() }, ""},
		{"closes its reading end early", twoPipes, func(p *otherParent) { p.from.Close() }, early},
		{"ends, and a child of its keeps the pipes", twoPipes, func(p *otherParent) { p.die() }, daemon},

		{"closes its reading end", oneWay, func(p *otherParent) { p.from.Close() }, ""}, // and waits, as close and pclose do
		{"closes its reading end, and ends", oneWay, func(p *otherParent) { p.from.Close(); p.die() }, ""},
		{"ends, and a child of its keeps the pipe", oneWay, func(p *otherParent) { p.die() }, daemon},
	} {
		t.Run(c.pipes+"/"+c.what, func(t *testing.T) {
			t.Parallel()
			lock := filepath.Join(t.TempDir(), "lock")
			p := startFor(t, lock, c.pipes)
			c.last(p)
			<-p.helper.ended
			mustBeFree(t, lock)
			said, status := p.said.String(), p.helper.cmd.ProcessState.ExitCode()
			switch {
			case c.cause == "" && (status != 0 || said != ""):
				t.Errorf("status %d: %s", status, said)
			case c.cause != "" && (status != 79 || !strings.Contains(said, c.cause)):
				t.Errorf("status %d, want 79; it says %q, not %q", status, said, c.cause)
			}
		})
	}
}

// An otherParent is a process for which a helper holds a lock, and whose ends of the pipes
// this test has.
type otherParent struct {
	process  *exec.Cmd
	to, from io.Closer
	helper   *deaf
	said     *bytes.Buffer
}

func startFor(t *testing.T, lock, pipes string) *otherParent {
	t.Helper()
	p := &otherParent{process: exec.Command("sleep", "300"), said: &bytes.Buffer{}}
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.die)
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	p.from = out
	p.helper = startDeaf(t, func(c *exec.Cmd) {
		if pipes == twoPipes {
			p.to, _ = c.StdinPipe()
		}
		c.Stdout, c.Stderr = w, p.said
	}, "hold", "--parent", strconv.Itoa(p.process.Process.Pid), "local:"+lock)
	_ = w.Close() // it has its own
	mustScan(t, bufio.NewScanner(out), "OK ")
	return p
}

func (p *otherParent) die() { _, _ = p.process.Process.Kill(), p.process.Wait() }
