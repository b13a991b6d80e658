//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"locksmith/test/lab"
)

// A terminal is a program at its own terminal, and what it showed so far.
type terminal struct {
	*lab.Process
	tty    *os.File
	closed chan struct{} // when all output was read

	mu    sync.Mutex
	shown bytes.Buffer
}

func atTerminal(t *testing.T, argv ...string) *terminal {
	t.Helper()
	tty, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 500}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	t.Cleanup(func() { _ = tty.Close() })
	term := &terminal{Process: lab.Start(t, cmd), tty: tty, closed: make(chan struct{})}
	go term.read()
	return term
}

// read ends with an error once no process has the terminal open any more.
func (term *terminal) read() {
	defer close(term.closed)
	buf := make([]byte, 4096)
	for {
		n, err := term.tty.Read(buf)
		term.mu.Lock()
		term.shown.Write(buf[:n])
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (term *terminal) output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.String()
}

func (term *terminal) mustShow(t *testing.T, text string) {
	t.Helper()
	lab.Eventually(t, fmt.Sprintf("it shows %q", text), func() bool { return strings.Contains(term.output(), text) },
		func() string { return fmt.Sprintf("but %q", term.output()) })
}

func (term *terminal) ctrlC(t *testing.T) {
	t.Helper()
	if _, err := term.tty.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
}

func (term *terminal) mustExit(t *testing.T, status int) {
	t.Helper()
	got := term.Status()
	<-term.closed
	if got != status {
		t.Errorf("exit status %d, want %d; it showed %q", got, status, term.output())
	}
}

// holdElsewhere takes the lock in another process until release is called. Others see this
// process's pid, for which it is held.
func holdElsewhere(t *testing.T, lock string) (pid int, release func()) {
	t.Helper()
	h := hold(t, lock)
	return os.Getpid(), h.LetGo
}

func mustBeFree(t *testing.T, lock string) {
	t.Helper()
	if _, err := os.Lstat(lock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is still there: %v", err)
	}
}

const clearLine = "\r\x1b[K"

func TestWaitingLine(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	pid, release := holdElsewhere(t, lock)
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "echo", "my turn")
	term.mustShow(t, "held by")
	term.mustShow(t, "pid "+strconv.Itoa(pid))
	release()
	term.mustExit(t, 0)
	out := term.output()
	if after := out[strings.LastIndex(out, "waiting for"):]; !strings.HasSuffix(after, clearLine+"my turn\r\n") {
		t.Errorf("the waiting line is not cleared before the command's output: %q", out)
	}
	mustBeFree(t, lock)
}

func TestCtrlCWhileWaiting(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "echo", "my turn")
	term.mustShow(t, "held by")
	term.ctrlC(t)
	term.mustExit(t, -int(syscall.SIGINT))
	out := term.output()
	if strings.Contains(out, "my turn") || !strings.HasSuffix(out, clearLine) {
		t.Errorf("after Ctrl-C while it waited run showed %q", out)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the holder lost its lock: %v", err)
	}
}

// TestCtrlCWhileRunning: the terminal tells the command, which takes its time.
func TestCtrlCWhileRunning(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--",
		"sh", "-c", `trap "sleep 0.3; echo tidied; exit 5" INT; echo ready; sleep 100`)
	term.mustShow(t, "ready")
	term.ctrlC(t)
	term.mustExit(t, 5)
	term.mustShow(t, "tidied")
	mustBeFree(t, lock)
}

// TestCtrlCOnce: what the terminal tells the command, run does not tell it again.
func TestCtrlCOnce(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--",
		"sh", "-c", `sleep 300 & trap "echo caught" INT; trap "kill $!; exit 5" USR1; echo ready; while :; do wait; done`)
	term.mustShow(t, "ready")
	const times = 10 // two signals at the same moment may count as one
	caught := func() int { return strings.Count(term.output(), "caught") }
	for i := range times {
		term.ctrlC(t)
		lab.Eventually(t, "it catches Ctrl-C", func() bool { return caught() > i })
	}
	term.Signal(syscall.SIGUSR1) // it is passed on after what came before
	term.mustExit(t, 5)
	if n := caught(); n != times {
		t.Errorf("the command got Ctrl-C %d times, want %d", n, times)
	}
	mustBeFree(t, lock)
}

// TestHangUpWhileWaiting: the terminal is closed.
func TestHangUpWhileWaiting(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "true")
	term.mustShow(t, "held by")
	_ = term.tty.Close()
	term.mustExit(t, -int(syscall.SIGHUP))
}
