//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/ftpserver"
)

// reapAt: the story of reap at servers, some of which tell times only to the minute, in a zone
// of their own.
func reapAt(t *testing.T, s *ftpserver.Server, address string) {
	p := reapPlace{t, s, address, makeLocks(t, s)}
	found, _ := p.reap(0, "--yes", "--max-age", "100000h")
	p.mustHave("dead", "empty", "recent", "young")
	for _, name := range []string{"dead", "empty"} {
		if f := found[name]; f.Due || f.AgeMS < 2*time.Hour.Milliseconds() {
			t.Errorf("reap --yes --max-age 100000h finds of %s: %+v; want it not due, and two hours old at least", name, f)
		}
	}
	// What is less than an hour old cannot seem older than it is.
	found, _ = p.reap(0, "--yes", "--max-age", "6m", "--name", "recent")
	if f := found["recent"]; !f.Removed || f.AgeMS < 28*time.Minute.Milliseconds() {
		t.Errorf("reap of what is half an hour old: %+v; want it removed, and 28 minutes old at least", f)
	}
	p.reap(0, "--max-age", "1h")
	p.mustHave("dead", "empty", "young")
	_, said := p.reap(75, "--yes", "--max-age", "1h", "--watch", "0", "--name", "dead")
	if !strings.Contains(said, "--watch 1s") {
		t.Errorf("reap --watch 0 does not say which --watch would do: %q", said)
	}
	found, _ = p.reap(0, "--yes", "--max-age", "1h")
	p.mustHave("young")
	if !found["dead"].Removed || !found["empty"].Removed || found["young"].Note != "too young" {
		t.Errorf("reap --yes --max-age 1h finds %+v; want dead and empty removed, and young too young", found)
	}
}

// makeLocks makes a directory of locks: one of a dead holder, and three empty ones, of which one
// is new and one half an hour old. The others are four hours old.
func makeLocks(t *testing.T, s *ftpserver.Server) (dir string) {
	t.Helper()
	dir = filepath.Join(s.Dir, "locks")
	var st unix.Stat_t
	err := unix.Stat(s.Dir, &st)
	entry := "dead/x.1000-0123456789abcdef0123456789abcdef"
	now := time.Now()
	for _, name := range []string{"", "young", "recent", "empty", "dead", entry, entry + "/1.1.x"} {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.Mkdir(name, 0o755), os.Chown(name, int(st.Uid), int(st.Gid)))
	}
	for name, age := range map[string]time.Duration{"recent": 30 * time.Minute, "empty": 4 * time.Hour, entry: 4 * time.Hour} {
		before := now.Add(-age)
		err = errors.Join(err, os.Chtimes(filepath.Join(dir, name), before, before))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A reapPlace is a directory of locks at a server.
type reapPlace struct {
	t       *testing.T
	server  *ftpserver.Server
	address string
	dir     string // on this disk
}

// A finding is a finding of reap --json.
type finding struct {
	Path    string `json:"path"`
	AgeMS   int64  `json:"age_ms"`
	Due     bool   `json:"due"`
	Removed bool   `json:"removed"`
	Note    string `json:"note"`
}

// reap runs reap, and returns its findings by the names of locks.
func (p reapPlace) reap(status int, flags ...string) (found map[string]finding, said string) {
	p.t.Helper()
	home := p.t.TempDir()
	var stdout, stderr strings.Builder
	cmd := exec.Command("locksmith", append(append([]string{"reap", "--json"}, flags...), p.address)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH_PASSWORD="+p.server.Password)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != status {
		p.t.Fatalf("%q: %v, want status %d\n%s%s", flags, err, status, &stdout, &stderr)
	}
	var all struct{ Places []struct{ Found []finding } }
	if err := json.Unmarshal([]byte(stdout.String()), &all); err != nil || len(all.Places) != 1 {
		p.t.Fatalf("%v: %s", err, &stdout)
	}
	found = map[string]finding{}
	for _, f := range all.Places[0].Found {
		name, _, _ := strings.Cut(f.Path, "/")
		found[name] = f
	}
	return found, stderr.String()
}

func (p reapPlace) mustHave(names ...string) {
	p.t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if strings.Join(have, " ") != strings.Join(names, " ") {
		p.t.Errorf("after reap the server has %q, want %q", have, names)
	}
}
