//go:build linux

package security

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// escapes has characters that move a cursor, change a title, or turn text round.
const escapes = "\x1b[2J\x1b]0;boo\a\r\b\x7f\u009b31m\u0085\xff\x9b\u202e\u2066\u2028end"

// holdWith holds a lock as somebody who says the given text of himself.
func holdWith(t *testing.T, address, says string) backend.Hold {
	t.Helper()
	b, _, err := backends.Usual().Open(address, backend.Access{})
	mustWork(t, err)
	r := backendtest.Request()
	r.Owner.User, r.Owner.Place.Host = says, says
	r.Owner.Meta = []protocol.Field{{Key: "job", Value: says}}
	a, err := b.Attempt(r)
	mustWork(t, err)
	h, err := a.Try(t.Context())
	mustWork(t, err)
	t.Cleanup(func() { _ = h.Release(t.Context()) })
	return h
}

// TestForgedRecord: a holder puts characters into its record that would do something to a
// terminal. Whoever is told of the holder reads its text without them.
func TestForgedRecord(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			address := k.at(filepath.Join(t.TempDir(), "lock"))
			h := holdWith(t, address, escapes)
			for _, args := range commands(address) {
				if args[0] == "remove" || args[0] == "check" || args[0] == "doctor" {
					continue // the command does not matter here, or says nothing about a holder
				}
				if r := locksmith(t, args...); args[0] != "break" && !strings.Contains(r.out+r.err, "end") && !strings.Contains(r.out, "shared;") {
					t.Errorf("%v does not tell of him: %s%s", args, r.out, r.err)
				}
			}
			locksmith(t, "break", "--force", address, "--id", h.ID())
			if k.scheme != "local" { // where the system keeps the lock
				mustBeLost(t, h)
			}
		})
	}
}

func mustBeLost(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err == nil {
		t.Error("the heartbeat of a holder that must be broken by now succeeds")
	}
}

// TestWaitingLine is the same as TestForgedRecord on a terminal. The only controls in the output
// are our own: going to a line's beginning, and clearing a line.
func TestWaitingLine(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			address := k.at(filepath.Join(t.TempDir(), "lock"))
			holdWith(t, address, escapes)
			said := ""
			for tries := 0; tries < 10 && !strings.Contains(said, "waiting for"); tries++ { // on a busy machine the time may be over before it waits
				cmd := command(t, "run", "--timeout", "1.5", address, "--", "true")
				terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 400})
				if err != nil {
					lab.Lacking(t, "no terminal: "+err.Error())
				}
				said += readTerminal(t, cmd, terminal)
				_ = terminal.Close()
			}
			said = strings.NewReplacer("\r\x1b[K", "", "\r\n", "\n").Replace(said)
			if !strings.Contains(said, "waiting for") || strings.ContainsFunc(said, unclean) {
				t.Errorf("the terminal of a waiter shows %q, want a line that waits, without characters that a terminal obeys", said)
			}
		})
	}
}

// readTerminal reads until the program ends.
func readTerminal(t *testing.T, cmd *exec.Cmd, terminal *os.File) string {
	t.Helper()
	timer := time.AfterFunc(lab.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := terminal.Read(buf)
		b.Write(buf[:n])
		if err != nil { // EIO: nobody has it open any more
			_ = cmd.Wait()
			return b.String()
		}
	}
}

// TestHugeRecord: of a file of a terabyte no more is read than a record may have.
func TestHugeRecord(t *testing.T) {
	strace := lab.NeedProgram(t, "strace")
	for _, k := range []kind{{"local", ""}, {"link", ""}} {
		for _, text := range []string{"", "1\nLOCK v=1 id=x"} {
			path := filepath.Join(t.TempDir(), "lock")
			if err := sparse(path, text); err != nil {
				lab.Lacking(t, "no file may say that it is huge: "+err.Error())
			}
			log := filepath.Join(t.TempDir(), "log")
			var out []byte
			var err error
			for range 5 { // under strace on a busy machine the look may seem to hang
				cmd := exec.Command(strace, "-f", "-P", path, "-o", log, "-e", "trace=read,pread64,readv,mmap", program(t), "status", k.at(path))
				if out, err = cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 69 {
					break
				}
			}
			if err != nil {
				lab.Lacking(t, fmt.Sprintf("strace: %v: %s", err, out))
			}
			trace, err := os.ReadFile(log)
			mustWork(t, err)
			if n := bytesRead(string(trace)); n == 0 || n > 8193 {
				t.Errorf("%v: read %d bytes:\n%s", k, n, trace)
			}
		}
	}
}

// bytesRead adds up what calls returned.
func bytesRead(trace string) (n int) {
	for line := range strings.Lines(trace) {
		_, returned, ok := strings.Cut(line, ") = ")
		var got int
		if _, err := fmt.Sscan(returned, &got); ok && err == nil {
			n += got
		}
	}
	return n
}
