//go:build linux

package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"locksmith/test/lab"
)

// What status --watch sends to terminals.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

func (term *terminal) resize(t *testing.T, rows, cols uint16) {
	t.Helper()
	if err := pty.Setsize(term.tty, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		t.Fatal(err)
	}
}

// TestWatchAtTerminal: status --watch draws in place, in whatever size, and leaves the terminal
// as it was.
func TestWatchAtTerminal(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "locksmith", "status", "--watch", "--every", "200ms", "local:"+lock, "local:"+lock+"2")
	term.mustShow(t, "lock: free\x1b[K")
	_, release := holdElsewhere(t, lock)
	term.mustShow(t, "lock: held by")
	term.resize(t, 1, 9)
	// As much of the first lock as there is room for.
	term.mustShow(t, "\x1b[H"+("local:" + lock)[:8]+"\x1b[K\x1b[J")
	term.resize(t, 24, 500)
	release()
	term.mustShow(t, "lock2: free\x1b[K\x1b[J")
	term.ctrlC(t)
	term.mustExit(t, 0)
	out := term.output()
	if !strings.HasPrefix(out, enterScreen) || !strings.HasSuffix(out, leaveScreen) || strings.Count(out, enterScreen) != 1 {
		t.Errorf("status --watch at a terminal showed %q", out)
	}
}

// TestWatchStopped: Ctrl-Z gives the terminal back while status --watch is stopped.
func TestWatchStopped(t *testing.T) {
	t.Parallel()
	term := atTerminal(t, "locksmith", "status", "--watch", "local:"+filepath.Join(t.TempDir(), "lock"))
	term.mustShow(t, "lock: free")
	if _, err := term.tty.WriteString("\x1a"); err != nil {
		t.Fatal(err)
	}
	term.mustShow(t, leaveScreen)
	lab.Eventually(t, "it is stopped", func() bool { return lab.Stopped(term.PID()) })
	term.Cont()
	term.mustShow(t, leaveScreen+enterScreen)
	term.Signal(syscall.SIGTERM)
	term.mustExit(t, 128+int(syscall.SIGTERM))
	if out := term.output(); !strings.HasSuffix(out, leaveScreen) {
		t.Errorf("status --watch, stopped and continued, showed %q", out)
	}
}
