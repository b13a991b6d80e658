package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal is a program at a terminal of its own, and what it showed so far.
type terminal struct {
	cmd    *exec.Cmd
	tty    *os.File
	closed chan struct{} // when all output was read

	mu    sync.Mutex
	shown bytes.Buffer
}

func atTerminal(t *testing.T, argv ...string) *terminal {
	t.Helper()
	term := &terminal{cmd: exec.Command(argv[0], argv[1:]...), closed: make(chan struct{})}
	var err error
	term.tty, err = pty.StartWithSize(term.cmd, &pty.Winsize{Rows: 24, Cols: 500})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		_ = term.cmd.Wait()
		_ = term.tty.Close()
	})
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
	for deadline := time.Now().Add(patience); !strings.Contains(term.output(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not show %q but %q", text, term.output())
		}
	}
}

func (term *terminal) ctrlC(t *testing.T) {
	t.Helper()
	if _, err := term.tty.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
}

func (term *terminal) mustExit(t *testing.T, status int) {
	t.Helper()
	timer := time.AfterFunc(patience, func() { _ = term.cmd.Process.Kill() })
	defer timer.Stop()
	_ = term.cmd.Wait()
	<-term.closed
	got := term.cmd.ProcessState.ExitCode()
	if ws := term.cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		got = 128 + int(ws.Signal()) // as a shell counts it
	}
	if got != status {
		t.Errorf("exit status %d, want %d; it showed %q", got, status, term.output())
	}
}

// holdElsewhere takes the lock in another process until release is called.
func holdElsewhere(t *testing.T, lock string) (pid int, release func()) {
	t.Helper()
	cmd := exec.Command("locksmith", "hold", "local:"+lock)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ok := make([]byte, 2)
	if _, err := stdout.Read(ok); err != nil || string(ok) != "OK" {
		t.Fatalf("the holder says %q, %v", ok, err)
	}
	return cmd.Process.Pid, func() { _ = stdin.Close() }
}

func mustBeFree(t *testing.T, lock string) {
	t.Helper()
	if _, err := os.Lstat(lock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is still there: %v", err)
	}
}

const clearLine = "\r\x1b[K"

func TestWaitingLine(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	pid, release := holdElsewhere(t, lock)
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "echo", "my turn")
	term.mustShow(t, "held by")
	term.mustShow(t, "pid "+strconv.Itoa(pid))
	release()
	term.mustExit(t, 0)
	out := term.output()
	if after := out[strings.LastIndex(out, "waiting for"):]; !strings.HasSuffix(after, clearLine+"my turn\r\n") {
		t.Errorf("the line is not cleared before the command's output: %q", out)
	}
	mustBeFree(t, lock)
}

func TestCtrlCWhileWaiting(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "echo", "my turn")
	term.mustShow(t, "held by")
	term.ctrlC(t)
	term.mustExit(t, 130)
	out := term.output()
	if strings.Contains(out, "my turn") || !strings.HasSuffix(out, clearLine) {
		t.Errorf("it showed %q", out)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the holder lost its lock: %v", err)
	}
}

// TestCtrlCWhileRunning: the terminal tells the command, which takes its time.
func TestCtrlCWhileRunning(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--",
		"sh", "-c", `trap "sleep 0.3; echo tidied; exit 5" INT; echo ready; sleep 100`)
	term.mustShow(t, "ready")
	term.ctrlC(t)
	term.mustExit(t, 5)
	term.mustShow(t, "tidied")
	mustBeFree(t, lock)
}

// TestHangUpWhileWaiting: the terminal is closed.
func TestHangUpWhileWaiting(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "true")
	term.mustShow(t, "held by")
	_ = term.tty.Close()
	term.mustExit(t, 128+1)
}
