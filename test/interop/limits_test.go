//go:build unix

package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// These are the limits in README's table: what goes wrong, and when.

// TestLateHeartbeat: flufl.lock takes the time of our file for the lock's end, and grants 10 s
// more. A late holder of ours loses the lock to it, unless it keeps the time a lease ahead. With
// local: it is always late.
func TestLateHeartbeat(t *testing.T) {
	for _, x := range []struct {
		scheme, options string
		late            time.Duration
		want            int
	}{
		{"link:", "", 3 * time.Second, held},
		{"link:", "", 12 * time.Second, 1},
		{"link:", "?touch=ahead", 20 * time.Second, held},
		{"local:", "", 14 * time.Second, 1}, // heartbeats come every 15 s
	} {
		t.Run(x.scheme+x.options+x.late.String(), func(t *testing.T) {
			t.Parallel()
			var c *cell
			var status int
			var said string
			for busy := true; busy; {
				c = newCell(t, pair{scheme: x.scheme, options: x.options, tool: flufl})
				c.ours("--lease", "1m").held().Signal(syscall.SIGSTOP)
				c.age(time.Since(c.modified()) + x.late)
				aged := time.Now()
				status, said = c.they(false)
				busy = status != x.want && time.Since(aged) > 5*time.Second // it looked when the heartbeat was later than that
			}
			if status != x.want {
				t.Errorf("flufl.lock, after a late heartbeat of ours: exit status %d, want %d\n%s", status, x.want, said)
			}
			if taken := !c.exists(); taken != (x.want != held) {
				t.Errorf("flufl.lock broke our lock: %t", taken)
			}
		})
	}
}

// TestBreakingCallFails: flufl.lock takes all that our file says for the name of another file,
// and removes that file, too. So the call that breaks a lock of ours fails. The next call gets
// the lock.
func TestBreakingCallFails(t *testing.T) {
	t.Parallel()
	c := newCell(t, pair{scheme: "link:", tool: flufl})
	c.crash()
	c.age(time.Minute)
	if status, said := c.they(false); status != 1 || !strings.Contains(said, "File name too long") {
		t.Errorf("flufl.lock breaks our dead holder's lock: exit status %d, want a failure\n%s", status, said)
	}
	if status, said := c.they(false); status != 0 {
		t.Errorf("the next call of flufl.lock: exit status %d, want 0\n%s", status, said)
	}
}

// TestHelperKilled: when only the helper is gone, we wait for the lease, because its parent may
// live. A tool that goes by the pid does not.
func TestHelperKilled(t *testing.T) {
	t.Parallel()
	c := newCell(t, pair{scheme: "link:", tool: dotlockfileP})
	h := lab.Hold(t, locksmith(t, "hold", c.address()))
	h.Held()
	h.Kill()
	if c.weTake("--timeout", "0") {
		t.Error("locksmith breaks the lock of a living parent whose helper was killed")
	}
	if status, said := c.they(false); status != 0 {
		t.Errorf("dotlockfile -p, after our helper was killed: exit status %d, want 0\n%s", status, said)
	}
}

// TestPIDRace: 1. dotlockfile -p reads our pid. 2. We release the lock and end; another takes
// it. 3. dotlockfile -p finds that there is no such process, and removes the lock, which is the
// other's. It does the same to its own kind.
func TestPIDRace(t *testing.T) {
	t.Parallel()
	c := newCell(t, pair{scheme: "link:", tool: dotlockfileP})
	trace := filepath.Join(t.TempDir(), "trace")
	h := c.ours().held()
	slow := lab.Start(t, exec.Command(lab.NeedProgram(t, "strace"), "-o", trace, "-e", "trace=read",
		"-P", c.path(), "-e", "inject=read:signal=STOP:when=1", "dotlockfile", "-p", "-l", "-r", "0", c.path()))
	lab.Eventually(t, "dotlockfile has read the pid", func() bool {
		text, _ := os.ReadFile(trace) // the file may not be there yet
		return strings.Contains(string(text), `"`+strconv.Itoa(h.PID())+`\n`) && strings.Contains(string(text), "stopped by SIGSTOP")
	})
	h.leave()
	next := c.ours().held()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", slow.PID()))
	mustWork(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	mustWork(t, err)
	mustWork(t, syscall.Kill(pid, syscall.SIGCONT))
	slow.Exits(0)
	next.LetGo()
	next.Exits(lost)
}

// TestSilentHolder: a living holder that gives no sign of life for our lease counts as dead.
func TestSilentHolder(t *testing.T) {
	t.Parallel()
	c := newCell(t, pair{scheme: "link:", tool: ln})
	c.theirs().held()
	if c.weTake("--strict", "--lease", "3s", "--timeout", "6s") {
		t.Error("with --strict locksmith breaks a silent lock")
	}
	if !c.weTake("--lease", "3s", "--timeout", lab.Patience.String()) {
		t.Error("locksmith does not break a lock that was silent for a lease")
	}
}

// TestHeldForLonger than the age at which procmail's lockfile breaks locks, for once in real
// time.
func TestHeldForLonger(t *testing.T) {
	t.Parallel()
	c := newCell(t, pair{scheme: "link:", tool: procmail})
	h := c.ours("--lease", "1m", "--refresh", "1s").held()
	out, err := exec.Command("lockfile", "-1", "-r", "14", "-l", "10", c.path()).CombinedOutput()
	if err == nil {
		t.Errorf("lockfile broke our lock: %s", out)
	}
	h.leave()
	c.mustBeEmpty()
}
