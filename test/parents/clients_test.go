//go:build unix

package parents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"locksmith/test/lab"
)

// clients are languages whose parents use the client that we offer for it.
var clients = []language{
	{name: "clients/python", program: "python3", suffix: ".py", held: "HeldError", usage: "HelperError"},
	{name: "clients/node", program: "node", suffix: ".mjs", held: "HeldError", usage: "HelperError",
		threads: func() string { return "what a worker acquired is released when it ends" }},
	{name: "clients/perl", program: "perl", suffix: ".pl", held: "held by another", usage: "absolute",
		threads: func() string { return "an object belongs to its thread" }},
	{name: "clients/tcl", program: "tclsh", suffix: ".tcl", held: "held by", usage: "absolute",
		threads: func() string { return "no threads in plain tclsh" }},
}

// losses are ways to lose a lock, and how a client is to call each.
var losses = []struct {
	scenario string
	signal   syscall.Signal // to the helper
	code     string
}{
	{"lost", syscall.SIGKILL, "internal"},
	{"lost", syscall.SIGTERM, "gone"},
	{"stopped", syscall.SIGSTOP, "expired"},
}

// TestClientsTellLosses: a client tells a loss by a state or an event, and again on release.
func TestClientsTellLosses(t *testing.T) {
	t.Parallel()
	for _, l := range clients {
		for _, loss := range losses {
			t.Run(l.name+"/"+loss.code, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, l)
				p := f.parent(loss.scenario, nil)
				helper := p.working()
				if err := syscall.Kill(helper.PID, loss.signal); err != nil {
					t.Fatal(err)
				}
				p.expect("lost " + loss.code)
				p.expect("released " + loss.code)
				if status := p.Status(); status != 0 {
					t.Errorf("the parent exits %d\n%s", status, p.Stderr())
				}
				f.eventually("the helper has exited", helper.Gone)
			})
		}
	}
}

// TestClientsForked: a child that has all that its parent has neither releases the lock nor
// keeps it from being released.
func TestClientsForked(t *testing.T) {
	t.Parallel()
	for _, l := range clients {
		if l.program == "node" || l.program == "tclsh" {
			continue // they do not fork
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, l)
			p := f.parent("forked", nil)
			pid, err := strconv.Atoi(strings.TrimPrefix(p.Line(), "child "))
			if err != nil {
				t.Fatal(err)
			}
			child := f.process(pid)
			helper := p.working()
			p.finish()
			f.mustBeReleased(helper)
			if child.Gone() {
				t.Error("the child ended, so this proves nothing")
			}
		})
	}
}

// TestClientsGiveUp: when a parent gives up waiting, the wait and its helper end.
func TestClientsGiveUp(t *testing.T) {
	t.Parallel()
	for _, l := range clients {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, l)
			other := f.parent("hold", nil)
			helper := other.working()
			p := f.parent("give_up", nil)
			p.expect("gave up")
			if status := p.Status(); status != 0 {
				t.Errorf("the parent exits %d\n%s", status, p.Stderr())
			}
			f.mustBeLocked("after another gave up")
			other.finish()
			f.mustBeReleased(helper)
		})
	}
}

// TestClientsDeaf: a helper that does not hear that the wait is over is killed. A process that a
// wrapper left running may keep its pipe.
func TestClientsDeaf(t *testing.T) {
	t.Parallel()
	for _, l := range clients {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := newFixture(t, l).parent("deaf", nil)
			p.expect("gave up")
			p.mustSucceed()
		})
	}
}

// TestClientsMaxHold: it is a loss when the lock was held for as long as it may be.
func TestClientsMaxHold(t *testing.T) {
	t.Parallel()
	for _, l := range clients {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := newFixture(t, l).parent("max_hold", nil)
			p.expect("working")
			p.expect("lost max_hold")
			p.expect("released max_hold")
			p.mustBeFree("after the release")
			p.mustSucceed()
		})
	}
}

// TestPerl: it is no loss when a thread ends, nor when a pipe is full of heartbeats that nobody
// read.
func TestPerl(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"thread_ends", "unread"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, clients[2])
			p := f.parent(scenario, nil)
			p.working()
			p.finish()
		})
	}
}

// TestHandles: what a program can do with a lock, and what is refused in words. The scripts
// judge for themselves. Python and Node.js have TestSuites instead.
func TestHandles(t *testing.T) {
	t.Parallel()
	for _, l := range clients[2:] {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, l)
			f.start(l.command(t, "handle", f.address()), nil).mustSucceed()
		})
	}
}

// TestPythonTypes: a strict type checker finds nothing in the client, and finds the mistakes in
// a program that uses it wrongly.
func TestPythonTypes(t *testing.T) {
	t.Parallel()
	lab.NotShort(t, "a type checker takes seconds")
	mypy := lab.NeedProgram(t, "mypy")
	known := t.TempDir() // what it found out about Python's own modules, which takes longest
	check := func(files ...string) (string, error) {
		cmd := exec.Command(mypy, append([]string{"--strict", "--cache-dir=" + known}, files...)...)
		cmd.Env = append(os.Environ(), "MYPYPATH=../../client/python")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := check("../../client/python/locksmith.py", "testdata/clients/python/example.py"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.py")
	if err := os.WriteFile(wrong, []byte("import locksmith\nlocksmith.acquire('local:/a', timout=3)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := check(wrong); err == nil || !strings.Contains(out, "timout") {
		t.Errorf("the type checker accepts an option that the client does not have: %v\n%s", err, out)
	}
}

// TestNodeTypes: tsc --strict finds nothing in the types of the client for Node.js and in a program that uses all
// of it, and finds the mistakes in one that uses it wrongly.
func TestNodeTypes(t *testing.T) {
	t.Parallel()
	lab.NotShort(t, "a compiler takes seconds")
	npm := lab.NeedProgram(t, "npm")
	dir := t.TempDir()
	install := exec.Command(npm, "install", "--prefix", dir, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline",
		"typescript@5.9.3", "@types/node@20.19.25")
	if out, err := install.CombinedOutput(); err != nil {
		lab.Lacking(t, "npm cannot install typescript: "+err.Error()+"\n"+string(out))
	}
	client := filepath.Join(dir, "node_modules/locksmith")
	if err := os.CopyFS(client, os.DirFS("../../client/node")); err != nil {
		t.Fatal(err)
	}
	check := func(text string) (string, error) {
		program := filepath.Join(dir, "program.mts")
		if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node_modules/.bin/tsc", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit",
			"--target", "es2022", "--lib", "es2022", "--types", "node", "--module", "nodenext", "program.mts")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	right, err := os.ReadFile("testdata/clients/node/typed.mts")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := check(string(right)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	wrong := "import { acquire } from 'locksmith';\nawait acquire('local:/a', { timout: 3 });\nawait acquire('local:/a', { ask: () => 'soon' });\n"
	if out, err := check(wrong); err == nil || !strings.Contains(out, "timout") || !strings.Contains(out, "program.mts(3,") {
		t.Errorf("the compiler accepts an option that the client does not have, or an answer that it does not know: %v\n%s", err, out)
	}
}

// TestPythonTask: a task that works under a lock is cancelled when the lock is lost.
func TestPythonTask(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clients[0])
	p := f.parent("task", nil)
	helper := p.working()
	if err := syscall.Kill(helper.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.expect("lost gone")
	p.mustSucceed()
}
