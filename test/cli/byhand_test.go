//go:build unix

package cli

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHoldByHand: who holds a lock at a terminal is told until when, and what releases it. Its
// waiting line is that of run.
func TestHoldByHand(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	pid, release := holdElsewhere(t, lock)
	term := atTerminal(t, "locksmith", "hold", "--max-hold", "8h", "--reason", "maintenance", "local:"+lock)
	term.mustShow(t, "waiting for")
	term.mustShow(t, "pid "+strconv.Itoa(pid))
	release()
	term.mustShow(t, "Ctrl-C releases it")
	out := term.output()
	held := "locksmith: local:" + regexp.QuoteMeta(lock) + `: held until \d\d:\d\d:\d\d; Ctrl-C releases it`
	if !regexp.MustCompile(`(?s)` + regexp.QuoteMeta(clearLine) + `OK proto=1 [^\r]*\r\n` + held).MatchString(out) {
		t.Errorf("hold at a terminal showed %q", out)
	}
	term.ctrlC(t)
	term.mustExit(t, 0)
	term.mustShow(t, "RELEASED held_ms=")
	mustBeFree(t, lock)
}

// TestHoldByHandMaxHold: --max-hold is over.
func TestHoldByHandMaxHold(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "locksmith", "hold", "--max-hold", "300ms", "--lease", "4", "local:"+lock)
	term.mustExit(t, 124)
	term.mustShow(t, "LOST code=max_hold ")
	mustBeFree(t, lock)
}

// TestGiveUpByHand: the waiting line is removed, and Ctrl-C says what it did.
func TestGiveUpByHand(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	term := atTerminal(t, "locksmith", "hold", "local:"+lock)
	term.mustShow(t, "held by")
	term.ctrlC(t)
	term.mustExit(t, 75)
	out := term.output()
	if after := out[strings.LastIndex(out, "waiting for"):]; !strings.Contains(after, clearLine+"ERR code=cancelled ") || !strings.HasSuffix(after, "gave up waiting: signal interrupt\r\n") {
		t.Errorf("after Ctrl-C while it waited hold showed %q", out)
	}
}

// TestRefusedByHand: a person at a terminal reads once why there is no lock, and then what to
// do.
func TestRefusedByHand(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	term := atTerminal(t, "locksmith", "hold", "--timeout", "0", "local:"+lock)
	term.mustExit(t, 75)
	if out := term.output(); strings.Count(out, ": held by ") != 1 || !strings.Contains(out, "ERR code=held ") || !strings.HasSuffix(out, "\r\n  wait longer with --timeout, or see who with: locksmith status local:"+lock+"\r\n") {
		t.Errorf("hold of a lock that it cannot have showed %q", out)
	}
}

// TestHoldForProgram: a program that reads the lines has the terminal for itself.
func TestHoldForProgram(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "sh", "-c", `locksmith hold --max-hold 300ms --lease 4 "$0" | cat`, "local:"+lock)
	term.mustExit(t, 0)
	if out := term.output(); strings.Contains(out, "Ctrl-C") || !strings.Contains(out, "LOST") {
		t.Errorf("hold for a program writes to its terminal: %q", out)
	}
}

// TestHoldInBackground: hold in the background does not promise that Ctrl-C reaches it.
func TestHoldInBackground(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "sh", "-c", `locksmith hold --max-hold 300ms --lease 4 "$0" & wait $!`, "local:"+lock)
	term.mustExit(t, 124)
	if out := term.output(); strings.Contains(out, "Ctrl-C") || !regexp.MustCompile(`kill \d+ releases it`).MatchString(out) {
		t.Errorf("hold in the background showed %q", out)
	}
}
