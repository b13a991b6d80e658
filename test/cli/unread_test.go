package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fullPipe is a pipe into which nobody can write until somebody reads.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil { // Go's pipes do not block
			_, full = unix.Write(int(fd), make([]byte, 1))
		}
		return true
	})
	if err != nil || full != unix.EAGAIN {
		t.Fatal(err, full)
	}
	return r, w
}

// A deaf process is one whose messages, or lines, nobody reads.
type deaf struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func startDeaf(t *testing.T, change func(*exec.Cmd), args ...string) *deaf {
	t.Helper()
	d := &deaf{exec.Command("locksmith", args...), make(chan struct{})}
	change(d.cmd)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.ended)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		<-d.ended
	})
	return d
}

func (d *deaf) mustEnd(t *testing.T, statuses ...int) {
	t.Helper()
	select {
	case <-d.ended:
		if got := d.cmd.ProcessState.ExitCode(); !slices.Contains(statuses, got) {
			t.Errorf("exit status %d, want %d", got, statuses)
		}
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}

func mustAppear(t *testing.T, path string) {
	t.Helper()
	eventually(t, path+" is there", func() bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// TestMessagesUnread: whoever reads standard error may have stopped to. That keeps
// nobody from a loss, from letting go, or from giving up.
func TestMessagesUnread(t *testing.T) {
	unread := func(t *testing.T) func(*exec.Cmd) {
		_, w := fullPipe(t)
		return func(c *exec.Cmd) { c.Stderr = w }
	}
	t.Run("hold loses the lock", func(t *testing.T) {
		lock := filepath.Join(t.TempDir(), "lock")
		var out io.ReadCloser
		d := startDeaf(t, func(c *exec.Cmd) {
			unread(t)(c)
			_, _ = c.StdinPipe()
			out, _ = c.StdoutPipe()
		}, "hold", "--refresh", "1", "--log-level", "trace", "local:"+lock)
		lines := bufio.NewScanner(out)
		mustScan(t, lines, "OK ")
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
		mustScan(t, lines, "LOST code=gone ")
		d.mustEnd(t, 79)
	})
	t.Run("run loses the lock", func(t *testing.T) {
		dir := t.TempDir()
		lock, ready := filepath.Join(dir, "lock"), filepath.Join(dir, "ready")
		d := startDeaf(t, unread(t), "run", "--lease", "4", "local:"+lock, "--", "sh", "-c", "touch "+ready+"; exec sleep 300")
		mustAppear(t, ready)
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
		d.mustEnd(t, 79)
	})
	t.Run("run gives up", func(t *testing.T) {
		lock := filepath.Join(t.TempDir(), "lock")
		_, release := holdElsewhere(t, lock)
		defer release()
		startDeaf(t, unread(t), "run", "--timeout", "0.3", "local:"+lock, "--", "true").mustEnd(t, 75)
	})
	t.Run("run is told to give up", func(t *testing.T) {
		lock := filepath.Join(t.TempDir(), "lock")
		_, release := holdElsewhere(t, lock)
		defer release()
		d := startDeaf(t, unread(t), "run", "local:"+lock, "--", "true")
		time.Sleep(300 * time.Millisecond) // it waits by then, or is told sooner
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		d.mustEnd(t, -1)
	})
	t.Run("run gets the lock", func(t *testing.T) {
		lock := filepath.Join(t.TempDir(), "lock")
		_, release := holdElsewhere(t, lock)
		d := startDeaf(t, unread(t), "run", "local:"+lock, "--", "sh", "-c", "exit 7")
		time.Sleep(300 * time.Millisecond)
		release()
		d.mustEnd(t, 7)
		mustBeFree(t, lock)
	})
}

func mustScan(t *testing.T, lines *bufio.Scanner, begin string) {
	t.Helper()
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), begin) {
		t.Fatalf("it says %q, not %q (%v)", lines.Text(), begin, lines.Err())
	}
}

// TestTerminalStopped: Ctrl-S stops what a terminal shows, and not who tends a lock.
func TestTerminalStopped(t *testing.T) {
	dir := t.TempDir()
	lock, ready := filepath.Join(dir, "lock"), filepath.Join(dir, "ready")
	sh := atPrompt(t)
	sh.keys(t, "locksmith run --lease 4 local:"+lock+" -- sh -c 'touch "+ready+"; exec sleep 300'; echo $? >"+dir+"/told; mv "+dir+"/told "+dir+"/status\n")
	mustAppear(t, ready)
	sh.keys(t, "\x13")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	mustAppear(t, filepath.Join(dir, "status"))
	sh.keys(t, "\x11")
	if status, err := os.ReadFile(filepath.Join(dir, "status")); string(status) != "79\n" {
		t.Errorf("exit status %q (%v)", status, err)
	}
}

// TestLinesUnread: a parent whose pipe is full finds the first line later. The lock is
// tended meanwhile, and released when it is not wanted any more.
func TestLinesUnread(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	start := func(t *testing.T) (*deaf, *os.File, io.Closer) {
		r, w := fullPipe(t)
		var in io.Closer
		d := startDeaf(t, func(c *exec.Cmd) {
			c.Stdout = w
			in, _ = c.StdinPipe()
		}, "hold", "--lease", "5", "mkdir:"+lock)
		_ = w.Close()
		mustAppear(t, lock)
		return d, r, in
	}
	t.Run("it is tended", func(t *testing.T) {
		d, r, in := start(t)
		other := exec.Command("locksmith", "run", "--timeout", "7", "mkdir:"+lock, "--", "true")
		if err := other.Run(); other.ProcessState.ExitCode() != 75 {
			t.Errorf("another: %v", err)
		}
		lines := bufio.NewReader(r)
		if zeros, err := lines.ReadString('O'); err != nil || strings.Trim(zeros, "\x00") != "O" {
			t.Errorf("it says %q (%v)", zeros, err)
		}
		_ = in.Close()
		if rest, err := io.ReadAll(lines); err != nil || !strings.HasPrefix(string(rest), "K ") || !strings.Contains(string(rest), "\nRELEASED ") {
			t.Errorf("it says %q (%v)", rest, err)
		}
		d.mustEnd(t, 0)
		mustBeFree(t, lock)
	})
	t.Run("its input ends", func(t *testing.T) {
		d, _, in := start(t)
		_ = in.Close()
		d.mustEnd(t, 0, 75) // its directory is there before it is held
		mustBeFree(t, lock)
	})
	t.Run("it is told to end", func(t *testing.T) {
		d, _, _ := start(t)
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		d.mustEnd(t, 143, 75) // its directory is there before it is held
		mustBeFree(t, lock)
	})
}
