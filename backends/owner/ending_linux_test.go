package owner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/process"
)

// TestEnding: whatever a record says, we tell nobody to end a process that is not a locksmith, or
// is another user's.
func TestEnding(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	find := func(pid int) process.Process {
		p, err := process.Find(pid)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	start := func(name string) process.Process {
		path := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(sleep, path); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), path, "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return find(cmd.Process.Pid)
	}
	ours := strconv.Itoa(os.Geteuid())
	locksmith, other := start("locksmith"), start("sshd")
	later := locksmith
	later.Start++
	elsewhere := Here()
	elsewhere.Boot = "another"
	for name, c := range map[string]struct {
		r    Record
		kill bool
	}{
		"a helper":                 {Record{Place: Here(), Helper: locksmith, User: ours}, true},
		"another program":          {Record{Place: Here(), Helper: other, User: ours}, false},
		"the first process":        {Record{Place: Here(), Helper: find(1), User: "root"}, false},
		"a pid that is used again": {Record{Place: Here(), Helper: later, User: ours}, false},
		"another user's":           {Record{Place: Here(), Helper: locksmith, User: "mallory"}, false},
		"on another machine":       {Record{Place: elsewhere, Helper: locksmith, User: ours}, false},

		"in its user's file":     {Record{Place: Here(), Helper: locksmith, User: ours, Keeper: uint32(os.Geteuid())}, true},
		"in another user's file": {Record{Place: Here(), Helper: locksmith, User: ours, Keeper: 64011}, false},
	} {
		if got := c.r.Ending(); strings.Contains(got, "kill ") != c.kill {
			t.Errorf("%s: the advice is %q; that it has a kill command must be %v", name, got, c.kill)
		}
	}
}
