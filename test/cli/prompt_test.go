//go:build unix

package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// A prompt is an interactive bash at a terminal, in a directory of its own.
type prompt struct {
	*terminal
	dir  string
	seen int // how much of the output was taken
}

func atPrompt(t *testing.T) *prompt {
	t.Helper()
	lab.NeedProgram(t, "bash")
	dir := t.TempDir()
	// Without line editing bash leaves the terminal's modes alone. Without a prompt only what
	// commands say is shown.
	sh := &prompt{terminal: atTerminal(t, "env", "-C", dir, "PS1=", "bash", "--norc", "--noprofile", "--noediting", "-i"), dir: dir}
	sh.keys(t, "stty -echo\n")
	sh.keys(t, "ulimit -c 0; echo read''y\n")
	sh.until(t, "ready")
	return sh
}

const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

// keys types.
func (sh *prompt) keys(t *testing.T, text string) {
	t.Helper()
	if _, err := sh.tty.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// until takes the output up to where an expression matches, and returns it.
func (sh *prompt) until(t *testing.T, expr string) string {
	t.Helper()
	re := regexp.MustCompile(expr)
	fresh := func() string { return sh.output()[sh.seen:] }
	var said string
	lab.Eventually(t, fmt.Sprintf("it shows %q", expr), func() bool {
		text := fresh()
		at := re.FindStringIndex(text)
		if at != nil {
			said = text[:at[1]]
		}
		return at != nil
	}, func() string { return fmt.Sprintf("but %q", fresh()) })
	sh.seen += len(said)
	return said
}

// status asks for the exit status of the last command.
func (sh *prompt) status(t *testing.T) string {
	t.Helper()
	sh.keys(t, "echo status=$?.\n")
	return sh.until(t, `status=\d+\.`)
}

// mustSay checks the shell's last answer, of which only the end counts.
func mustSay(t *testing.T, got, want string) {
	t.Helper()
	if !strings.HasSuffix(got, want) {
		t.Errorf("the shell says %q, want %q", got, want)
	}
}
