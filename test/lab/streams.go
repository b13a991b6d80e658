package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A Line is a line of a process, with the time at which we read it.
type Line struct {
	Text string // without the line feed
	At   time.Time
	cut  bool // there was no line feed
}

// openStreams opens the streams that are ours, and returns their other ends.
func (p *Process) openStreams() (theirs []*os.File) {
	p.t.Helper()
	if p.Cmd.Stdin == nil {
		r, w := pipe(p.t)
		p.Cmd.Stdin, p.Stdin = r, w
		theirs = append(theirs, r)
	}
	if p.Cmd.Stdout == nil {
		r, w := pipe(p.t)
		p.Cmd.Stdout, p.stdout = w, r
		theirs = append(theirs, w)
	}
	if p.Cmd.Stderr == nil {
		// A file, not a pipe, so that nobody waits for descendants that have it open.
		p.stderr = file(p.t)
		p.Cmd.Stderr = p.stderr
	}
	return theirs
}

func pipe(t T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r, w
}

// file makes a file that goes away with the test.
func file(t T) *os.File {
	t.Helper()
	f, err := os.CreateTemp("", "said-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	})
	return f
}

// listen passes lines on until there are no more, or until the test is over.
func (p *Process) listen(over <-chan struct{}) {
	defer p.stdout.Close()
	defer close(p.lines)
	for r := bufio.NewReader(p.stdout); ; {
		text, err := r.ReadString('\n')
		if text != "" {
			select {
			case p.lines <- Line{strings.TrimSuffix(text, "\n"), time.Now(), err != nil}:
			case <-over:
			}
		}
		if err != nil {
			return // the other end or ours was closed
		}
	}
}

// errSilent is what Next returns if no line comes within Patience.
var errSilent = fmt.Errorf("it says nothing for %v", Patience)

// Pending is how many lines the process has written that nobody has read.
func (p *Process) Pending() int { return len(p.lines) }

// Next waits for the next line. After the last line its error is io.EOF.
func (p *Process) Next() (Line, error) {
	switch l, open, inTime := receive(p.lines); {
	case !inTime:
		return l, errSilent
	case !open:
		return l, io.EOF
	default:
		return l, nil
	}
}

// Line waits for the next line, which must come.
func (p *Process) Line() string {
	p.t.Helper()
	l, err := p.Next()
	if err != nil {
		p.fail("another line: %v", err)
	}
	return l.Text
}

// Expect waits for the next line, which must begin with these words.
func (p *Process) Expect(begin string) string {
	p.t.Helper()
	l, err := p.Next()
	if err != nil {
		p.fail("want %q: %v", begin, err)
	}
	if !strings.HasPrefix(l.Text, begin) {
		p.fail("it says %q, want %q", l.Text, begin)
	}
	return l.Text
}

// Rest waits for the end of the output, and returns the remaining lines.
func (p *Process) Rest() (lines []string) {
	p.t.Helper()
	for {
		l, err := p.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			p.fail("its output does not end: %v, after %q", err, lines)
		}
		lines = append(lines, l.Text)
	}
}

// Silent checks that for some time the process neither writes a line nor closes its output.
func (p *Process) Silent(during time.Duration) {
	p.t.Helper()
	select {
	case l, open := <-p.lines:
		p.fail("want silence, but it says %q (open: %v)", l.Text, open)
	case <-time.After(during):
	}
}

// Stderr returns what the process and its descendants have written to standard error.
func (p *Process) Stderr() string {
	if p.stderr == nil {
		return ""
	}
	info, err := p.stderr.Stat()
	if err != nil {
		return err.Error()
	}
	text := make([]byte, info.Size())
	n, _ := p.stderr.ReadAt(text, 0)
	return string(text[:n])
}

// Null is /dev/null, for a process whose input is not ours.
func Null(t T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
