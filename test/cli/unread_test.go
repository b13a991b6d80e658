//go:build unix

package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/protocol"
	"locksmith/test/lab"
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

// locksmith starts it.
func locksmith(t *testing.T, args ...string) *lab.Process {
	t.Helper()
	return lab.Start(t, exec.Command("locksmith", args...))
}

// hold starts a helper that holds a lock.
func hold(t *testing.T, lock string) *lab.Helper {
	t.Helper()
	h := lab.Hold(t, exec.Command("locksmith", "hold", "local:"+lock))
	h.Held()
	return h
}

// unread is a locksmith whose messages nobody reads.
func unread(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("locksmith", args...)
	_, cmd.Stderr = fullPipe(t)
	return cmd
}

func mustAppear(t *testing.T, path string) {
	t.Helper()
	lab.Eventually(t, path+" is there", func() bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// TestMessagesUnread: whoever should read standard error may have stopped. That does not keep
// anybody from noticing a loss, letting go, or giving up.
func TestMessagesUnread(t *testing.T) {
	lab.NotShort(t, "waits for a lease")
	t.Parallel()
	t.Run("hold loses the lock", func(t *testing.T) {
		t.Parallel()
		lock := filepath.Join(t.TempDir(), "lock")
		h := lab.Hold(t, unread(t, "hold", "--refresh", "1", "--log-level", "trace", "local:"+lock))
		h.Held()
		mustRemove(t, lock)
		if lost := h.Says(protocol.WordLost); lost.Value("code") != string(protocol.Gone) {
			t.Errorf("with messages unread, the loss is told as %+v", lost)
		}
		h.Exits(79)
	})
	t.Run("run loses the lock", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		lock, ready := filepath.Join(dir, "lock"), filepath.Join(dir, "ready")
		p := lab.Start(t, unread(t, "run", "--refresh", "1", "local:"+lock, "--", "sh", "-c", "touch "+ready+"; exec sleep 300"))
		mustAppear(t, ready)
		mustRemove(t, lock)
		p.Exits(79)
	})
	// waits starts run for a lock that another holds, and returns when run waits.
	waits := func(t *testing.T, command ...string) (p *lab.Process, holder *lab.Helper, lock string) {
		dir := t.TempDir()
		lock, events := filepath.Join(dir, "lock"), filepath.Join(dir, "events")
		holder = hold(t, lock)
		p = lab.Start(t, unread(t, append([]string{"run", "--events", events, "local:" + lock, "--"}, command...)...))
		lab.Eventually(t, "it waits", func() bool {
			text, _ := os.ReadFile(events) // the file may not be there yet
			return strings.Contains(string(text), `"event":"waiting"`)
		})
		return p, holder, lock
	}
	t.Run("run gives up", func(t *testing.T) {
		t.Parallel()
		lock := filepath.Join(t.TempDir(), "lock")
		hold(t, lock)
		lab.Start(t, unread(t, "run", "--timeout", "0.3", "local:"+lock, "--", "true")).Exits(75)
	})
	t.Run("run is told to give up", func(t *testing.T) {
		t.Parallel()
		p, _, _ := waits(t, "true")
		p.Signal(syscall.SIGTERM)
		p.Exits(-int(syscall.SIGTERM))
	})
	t.Run("run gets the lock", func(t *testing.T) {
		t.Parallel()
		p, holder, lock := waits(t, "sh", "-c", "exit 7")
		holder.Release()
		p.Exits(7)
		mustBeFree(t, lock)
	})
}

func mustRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestTerminalStopped: Ctrl-S stops what a terminal shows, and not who tends a lock.
func TestTerminalStopped(t *testing.T) {
	lab.NotShort(t, "waits for a lease")
	t.Parallel()
	dir := t.TempDir()
	lock, ready := filepath.Join(dir, "lock"), filepath.Join(dir, "ready")
	sh := atPrompt(t)
	sh.keys(t, "locksmith run --refresh 1 local:"+lock+" -- sh -c 'touch "+ready+"; exec sleep 300'; echo $? >"+dir+"/told; mv "+dir+"/told "+dir+"/status\n")
	mustAppear(t, ready)
	sh.keys(t, "\x13")
	mustRemove(t, lock)
	mustAppear(t, filepath.Join(dir, "status"))
	sh.keys(t, "\x11")
	if status, err := os.ReadFile(filepath.Join(dir, "status")); string(status) != "79\n" {
		t.Errorf("run at a terminal stopped by Ctrl-S: exit status %q (%v)", status, err)
	}
}

// TestLinesUnread: a parent whose pipe is full finds the first line later. The helper tends the
// lock meanwhile, and releases it when it is not wanted any more.
func TestLinesUnread(t *testing.T) {
	lab.NotShort(t, "waits for a lease")
	t.Parallel()
	start := func(t *testing.T) (p *lab.Process, lines *os.File, lock string) {
		lock = filepath.Join(t.TempDir(), "lock")
		r, w := fullPipe(t)
		cmd := exec.Command("locksmith", "hold", "--refresh", "1", "mkdir:"+lock)
		cmd.Stdout = w
		p = lab.Start(t, cmd)
		_ = w.Close()
		mustAppear(t, lock)
		return p, r, lock
	}
	t.Run("it is tended", func(t *testing.T) {
		t.Parallel()
		p, r, lock := start(t)
		for first, beat := "", 0; beat < 3; beat++ {
			lab.Eventually(t, "another heartbeat", func() bool {
				signs, _ := filepath.Glob(lock + "/x.*/*")
				moved := len(signs) == 1 && signs[0] != first
				if moved {
					first = signs[0]
				}
				return moved
			})
		}
		if status, said := lab.Run(t, exec.Command("locksmith", "run", "--timeout", "0", "mkdir:"+lock, "--", "true")); status != 75 {
			t.Errorf("another gets the lock of a helper whose line nobody has read: status %d, %s", status, said)
		}
		lines := bufio.NewReader(r)
		if zeros, err := lines.ReadString('O'); err != nil || strings.Trim(zeros, "\x00") != "O" {
			t.Errorf("before the first line the pipe had %q (%v)", zeros, err)
		}
		p.LetGo()
		if rest, err := io.ReadAll(lines); err != nil || !strings.HasPrefix(string(rest), "K ") || !strings.Contains(string(rest), "\nRELEASED ") {
			t.Errorf("the helper's lines, read late, are %q (%v)", rest, err)
		}
		p.Exits(0)
		mustBeFree(t, lock)
	})
	t.Run("its input ends", func(t *testing.T) {
		t.Parallel()
		p, _, lock := start(t)
		p.LetGo()
		p.Exits(0, 75) // the directory is there before the lock is held
		mustBeFree(t, lock)
	})
	t.Run("it is told to end", func(t *testing.T) {
		t.Parallel()
		p, _, lock := start(t)
		p.Signal(syscall.SIGTERM)
		p.Exits(143, 75) // the directory is there before the lock is held
		mustBeFree(t, lock)
	})
}
