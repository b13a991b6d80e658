//go:build unix

package parents

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/process"
)

// A child says how an example leaves a child running while it works: the text that comes before
// "working", and the texts that replace others.
type child struct {
	language string
	working  string // the statement that says "working"
	// executes starts another program. forks, if the language has it, does not: then the child
	// has all that its parent has.
	executes, forks string
	pause           string // so that the test can kill it while it works
	// terminates replaces, in pairs, what lets go: with SIGTERM, and exit status 143.
	terminates []string
}

var children = []child{
	{language: "sh", working: "echo working", executes: `sleep 60 & echo "child $!"`, pause: "sleep 60",
		forks: `( sleep 60; : ) & echo "child $!"`},
	{language: "perl", working: `print "working\n";`, pause: `sleep 60;`,
		executes:   `$| = 1; my $child = fork || exec "sleep", "60"; print "child $child\n";`,
		forks:      `$| = 1; my $child = fork || do { sleep 60; exec "true" }; print "child $child\n";`,
		terminates: []string{"open LOCKER", "my $locker = open LOCKER", `close(LOCKER) or die`, `kill TERM => $locker; close LOCKER; $? >> 8 == 143 or die`}},
	{language: "python", working: `print("working")`, pause: `sys.stdout.flush(); import time; time.sleep(60)`,
		executes:   `print("child", subprocess.Popen(["sleep", "60"]).pid, flush=True)`,
		forks:      `import os, time; child = os.fork() or time.sleep(60) or os._exit(0); print("child", child, flush=True)`,
		terminates: []string{"locker.stdin.close()", "locker.terminate()", "locker.wait() != 0", "locker.wait() != 143"}},
	{language: "tcl", working: "puts working", executes: `puts "child [exec sleep 60 &]"`, pause: `flush stdout; after 60000`},
	{language: "node", working: "console.log('working');", pause: "await new Promise((r) => setTimeout(r, 60_000));",
		executes: "const child = spawn('sleep', ['60'], { stdio: 'inherit' }); child.unref(); console.log(`child ${child.pid}`);"},
	{language: "c", working: `puts("working");`, pause: `fflush(stdout); sleep(60);`,
		executes:   `pid_t child = fork(); if (child == 0) { execlp("sleep", "sleep", "60", (char *)NULL); _exit(127); } printf("child %d\n", child); fflush(stdout);`,
		forks:      `pid_t child = fork(); if (child == 0) { sleep(60); _exit(0); } printf("child %d\n", child); fflush(stdout);`,
		terminates: []string{"#include <string.h>", "#include <signal.h>\n#include <string.h>", "fclose(lines);", "kill(locker, SIGTERM);", "status != 0", "WEXITSTATUS(status) != 143"}},
}

// TestExamplesWithChildren: what an example leaves running does not keep its lock, neither when
// the example lets go nor when it dies. A child by fork without exec has the pipe and would keep
// the lock, but for SIGTERM.
func TestExamplesWithChildren(t *testing.T) {
	t.Parallel()
	for _, c := range children {
		l := languageOf(t, c.language)
		f := func(t *testing.T) *fixture { t.Parallel(); return newFixture(t, l) }
		t.Run(c.language+"/release", func(t *testing.T) {
			c.start(f(t), c.executes, nil).letsGo()
		})
		t.Run(c.language+"/death", func(t *testing.T) {
			e := c.start(f(t), c.executes, []string{c.working, c.working + "\n" + c.pause})
			e.expect("working")
			helper := e.helper()
			e.Kill()
			e.mustBeReleased(helper)
			e.mustLive()
		})
		if c.forks != "" {
			t.Run(c.language+"/fork", func(t *testing.T) {
				c.start(f(t), c.forks, c.terminates).letsGo()
			})
		}
	}
}

// A withChild is an example that has left a child running.
type withChild struct {
	*parent
	child process.Process
}

// start starts a changed example. makesChild comes before "working", and in each of pairs the
// second text replaces the first.
func (c child) start(f *fixture, makesChild string, pairs []string) *withChild {
	f.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", c.language, "example"+f.language.suffix))
	if err != nil {
		f.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		text = f.replace(text, pairs[i], pairs[i+1])
	}
	text = f.replace(text, c.working, makesChild+"\n"+c.working)
	source := filepath.Join(f.TempDir(), "example"+f.language.suffix)
	if err := os.WriteFile(source, text, 0o600); err != nil {
		f.Fatal(err)
	}
	p := f.start(f.language.run(f.T, source, f.address()), nil)
	pid, err := strconv.Atoi(strings.TrimPrefix(p.Line(), "child "))
	if err != nil {
		f.Fatalf("no child's pid: %v\n%s", err, p.Stderr())
	}
	return &withChild{p, f.process(pid)}
}

func (f *fixture) replace(text []byte, old, with string) []byte {
	f.Helper()
	if n := bytes.Count(text, []byte(old)); n != 1 {
		f.Fatalf("the example has %q %d times", old, n)
	}
	return bytes.Replace(text, []byte(old), []byte(with), 1)
}

// letsGo: the lock is released, and the parent has ended, before the child ends.
func (w *withChild) letsGo() {
	w.Helper()
	w.expect("working")
	w.mustSucceed()
	w.mustLive()
}

func (w *withChild) mustLive() {
	w.Helper()
	if w.child.Gone() {
		w.Error("the lock was kept until the child ended: the child has the helper's pipe")
	}
}

func languageOf(t *testing.T, name string) language {
	t.Helper()
	for _, l := range languages {
		if l.name == name {
			return l
		}
	}
	t.Fatalf("no language %s", name)
	return language{}
}
