//go:build unix

package parents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

// A fixture is a lock, and what parents need to contend for it.
type fixture struct {
	*testing.T
	language language
	bin      string // the directory of the program locksmith
	scheme   string // of the lock's address
	path     string // of the lock file
	goFile   string // lets the parents go on
}

func newFixture(t *testing.T, l language) *fixture {
	t.Helper()
	lab.NeedProgram(t, l.program)
	dir := t.TempDir()
	return &fixture{T: t, language: l, bin: filepath.Dir(lab.Program(t, "cmd/locksmith")), scheme: "local:",
		path: filepath.Join(dir, "lock"), goFile: filepath.Join(dir, "go")}
}

func (f *fixture) address() string { return f.scheme + f.path }

func (f *fixture) locked() bool {
	_, err := os.Stat(f.path)
	return err == nil
}

func (f *fixture) mustBeLocked(when string) {
	f.Helper()
	if !f.locked() {
		f.Fatalf("the lock file does not exist %s: the lock was released too early, or never taken", when)
	}
}

func (f *fixture) mustBeFree(when string) {
	f.Helper()
	if f.locked() {
		f.Fatalf("the lock file exists %s: the lock was not released", when)
	}
}

func (f *fixture) goOn() {
	f.Helper()
	if err := os.WriteFile(f.goFile, nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) eventually(what string, so func() bool) {
	f.Helper()
	lab.Eventually(f, what, so)
}

// process finds a running process, and makes sure that it ends with the test.
func (f *fixture) process(pid int) process.Process {
	f.Helper()
	handle, err := os.FindProcess(pid) // a pidfd: it never names another
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = handle.Kill()
		_ = handle.Release()
	})
	p, err := process.Find(pid)
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// helper returns the process that holds the lock.
func (f *fixture) helper() process.Process {
	f.Helper()
	content, err := os.ReadFile(f.path)
	if err != nil {
		f.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		f.Fatalf("the lock file does not begin with a pid: %q", content)
	}
	return f.process(pid)
}

// A parent is a process that the test started.
type parent struct {
	*fixture
	*lab.Process
}

// parent starts the language's parent program.
func (f *fixture) parent(scenario string, stdin *os.File) *parent {
	f.Helper()
	return f.start(f.language.command(f.T, "parent", scenario, f.address(), f.goFile), stdin)
}

// start starts a command, with /dev/null as its input if there is no other.
func (f *fixture) start(cmd *exec.Cmd, stdin *os.File) *parent {
	f.Helper()
	cmd.Env = append(os.Environ(), "PATH="+f.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PYTHONPATH="+"../../client/python", "PYTHONDONTWRITEBYTECODE=1",
		"TMPDIR="+filepath.Dir(f.path)) // for FIFOs
	if cmd.Stdin = stdin; stdin == nil {
		cmd.Stdin = lab.Null(f)
	}
	return &parent{f, lab.Start(f, cmd)}
}

func (p *parent) expect(want string) {
	p.Helper()
	if got := p.Line(); got != want {
		p.Fatalf("the parent says %q, not %q\n%s", got, want, p.Stderr())
	}
}

// working waits for the lock and returns the helper.
func (p *parent) working() process.Process {
	p.Helper()
	p.expect("working")
	p.mustBeLocked("while the parent works")
	return p.helper()
}

// finish lets the parent release the lock, and makes sure that the parent saw to that itself.
func (p *parent) finish() {
	p.Helper()
	p.goOn()
	p.expect("released")
	p.mustBeFree("after the parent waited for the helper")
	p.mustSucceed()
}

func (p *parent) mustSucceed() {
	p.Helper()
	if status := p.Status(); status != 0 {
		p.Fatalf("the parent exits %d\n%s", status, p.Stderr())
	}
	p.mustBeFree("after the parent's exit")
}

// mustFail expects the parent to die with the helper's line.
func (p *parent) mustFail(text string) {
	p.Helper()
	if p.Status() == 0 || !strings.Contains(p.Stderr(), text) {
		p.Fatalf("the parent exits %d without %q\n%s", p.Status(), text, p.Stderr())
	}
}

// mustBeReleased waits for a helper that nobody waits for to release the lock.
func (f *fixture) mustBeReleased(helper process.Process) {
	f.Helper()
	f.eventually("the lock file is gone", func() bool { return !f.locked() })
	f.eventually("the helper has exited", helper.Gone)
}
