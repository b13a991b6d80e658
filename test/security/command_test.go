//go:build linux

package security

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// A result is what became of a command.
type result struct {
	args     []string
	status   int // -n after signal n
	out, err string
	memory   int64 // at most, in KiB
}

// command returns a command of locksmith with the given arguments and without our own
// configuration.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH")}
	return cmd
}

// finish runs a command to its end. The end must come by itself, or, if the command holds a lock,
// when its input ends after its first line.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var errs bytes.Buffer // filled through a pipe, for the command may not be allowed to write to files
	cmd.Stderr = &errs
	p := lab.Start(t, cmd)
	said := ""
	if l, err := p.Next(); err == nil {
		said = l.Text + "\n"
	}
	p.LetGo()
	for _, l := range p.Rest() {
		said += l + "\n"
	}
	r := result{args: cmd.Args, status: p.Status(), out: said, err: errs.String()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss
	}
	r.mustBeClean(t)
	return r
}

// locksmith runs a command of locksmith to its end.
func locksmith(t *testing.T, args ...string) result {
	t.Helper()
	return finish(t, command(t, args...))
}

// mustBeClean makes sure that the command's output does nothing to a terminal, and that the
// command did not crash.
func (r result) mustBeClean(t *testing.T) {
	t.Helper()
	for _, text := range []string{r.out, r.err} {
		if bad := strings.IndexFunc(text, unclean); bad >= 0 || !utf8.ValidString(text) {
			t.Errorf("%v is not fit for a terminal: %q", r.args, text)
		}
	}
	if strings.Contains(r.err, "goroutine ") || r.status == 2 {
		t.Errorf("%v crashed: status %d, %s", r.args, r.status, r.err)
	}
}

// unclean does not use protocol.IsControl, so that a character which IsControl forgets is
// noticed.
func unclean(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return protocol.IsControl(r)
}

// mustSay checks the exit status, and that either output has the words.
func (r result) mustSay(t *testing.T, status int, words ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("%v: status %d, want %d: %s%s", r.args, r.status, status, r.out, r.err)
	}
	for _, w := range words {
		if !strings.Contains(r.out+r.err, w) {
			t.Errorf("%v does not say %q: %s%s", r.args, w, r.out, r.err)
		}
	}
}
