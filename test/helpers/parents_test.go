//go:build unix

package helpers

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/test/lab"
)

// languages has, for each language of the parents of test/parents, the command that runs a
// source.
var languages = map[string][]string{
	".sh": {"sh"}, ".pl": {"perl"}, ".py": {"python3"}, ".tcl": {"tclsh"}, ".js": {"node"}, ".mjs": {"node"},
	".awk": {"gawk", "-f"}, ".rb": {"ruby"}, ".c": {},
}

const examples = "../parents/testdata/"

func newParent(t *testing.T, source string) parent {
	t.Helper()
	lab.NotShort(t, "starts interpreters and compilers")
	suffix := filepath.Ext(source)
	command := append(slices.Clone(languages[suffix]), source)
	if suffix == ".c" {
		lab.NeedProgram(t, "cc")
		command = []string{lab.CompileC(t, source)}
	} else {
		lab.NeedProgram(t, command[0])
	}
	return parent{command: command, within: lab.Patience, grace: 300 * time.Millisecond}
}

// TestParents: the parents that the page shows, those that strangers wrote from it, and those
// that use our clients pass each part. Those that look at the number of the protocol are named.
func TestParents(t *testing.T) {
	looks := []string{"ruby/stranger.rb", "clients/python/example.py", "clients/node/example.mjs", "clients/perl/example.pl", "clients/tcl/example.tcl"}
	for _, source := range slices.Concat(looks, []string{"sh/example.sh", "perl/example.pl", "python/example.py",
		"tcl/example.tcl", "node/example.js", "c/example.c", "awk/stranger.awk"}) {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			p := newParent(t, examples+source)
			if strings.HasPrefix(source, "clients/python") {
				p.command = append([]string{"env", "PYTHONPATH=../../client/python", "PYTHONDONTWRITEBYTECODE=1"}, p.command...)
			}
			for _, of := range parts {
				t.Run(of.name, func(t *testing.T) {
					expected := "ok"
					if of.name == "newer protocol" && !slices.Contains(looks, source) {
						expected = "not checked"
					}
					if o := p.try(of); o.word != expected {
						t.Errorf("the part %q of this parent ends with %q, want %q; it saw: %s", of.name, o.word, expected, o.seen)
					}
				})
			}
		})
	}
}

// play plays the part with this name.
func (p parent) play(name string) outcome {
	return p.try(parts[slices.IndexFunc(parts, func(of part) bool { return of.name == name })])
}

// TestRightParents: who closes in its children what they would inherit, as Java's ProcessBuilder
// does, and a shell that is in the middle of read <&$fd, do not leak the pipe.
func TestRightParents(t *testing.T) {
	java := "locker.stdin.close()"
	text, err := os.ReadFile(examples + "python/example.py")
	if err != nil || bytes.Count(text, []byte(java)) != 1 {
		t.Fatalf("the example has %q %d times, %v", java, bytes.Count(text, []byte(java)), err)
	}
	inherits := "import os; os.set_inheritable(locker.stdin.fileno(), True); os.set_inheritable(locker.stdout.fileno(), True)\n"
	early := "line = locker.stdout.readline()"
	python := strings.Replace(string(text), early, inherits+early, 1)
	for _, c := range []struct{ name, interpreter, source, want, sees string }{
		{"as Java", "python3", python, "not checked", "let it start a program"},
		{"as Java, with a program", "python3", strings.Replace(python, java, "import atexit, time; child = subprocess.Popen(['sleep', '600']); atexit.register(child.kill); time.sleep(1)\n"+java, 1), "ok", ""},
		{"bash", "bash", `coproc L { exec locksmith hold --stdin watch "$1"; }
			locker=$L_PID in=${L[1]}
			read -r line <&"${L[0]}" && [[ $line = OK* ]] || exit 1
			echo working
			exec {in}>&-
			wait "$locker"`, "ok", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lab.NotShort(t, "starts interpreters")
			lab.NeedProgram(t, c.interpreter)
			source := filepath.Join(t.TempDir(), "parent")
			if err := os.WriteFile(source, []byte(c.source), 0o600); err != nil {
				t.Fatal(err)
			}
			p := parent{command: []string{c.interpreter, source}, within: lab.Patience, grace: 300 * time.Millisecond}
			if o := p.play("children"); o.word != c.want || !strings.Contains(o.seen, c.sees) {
				t.Errorf("the part says %q, %q; want %q, with %q", o.word, o.seen, c.want, c.sees)
			}
		})
	}
}

// wrongParents are changes of the examples, the part that finds each, and what it sees.
var wrongParents = []struct{ source, old, new, part, sees string }{
	{"python/example.py", `not line.startswith("OK")`, "False", "held", "works without the lock"},
	{"python/example.py", "locker.stdout.readline()", `locker.stdout.read(2)`, "half a line", "before the whole of OK"},
	{"python/example.py", "stdout=subprocess.PIPE,", "stdout=subprocess.PIPE, stderr=subprocess.PIPE,", "full standard error", "does not end within"},
	{"python/example.py", "locker.wait() != 0", "locker.wait() < 0", "lost in the release", "exits with 0"},
	{"python/example.py", "locker.wait() != 0", "False", "slow release", "before its helper does"},
	{"python/example.py", `line.startswith("OK")`, `line.startswith("OK proto=")`, "additions", `does not say "working"`},
	{"node/example.js", "locker.stdout.destroy();", "", "somebody has its output", "does not end within"},
	{"c/example.c", "pid_t locker = fork();", `pid_t locker = fork();
	if (locker && fcntl(ends[0], F_SETFD, 0) == 0 && fork() == 0) execlp("sleep", "sleep", "7", (char *)NULL);`, "children", "a program that it starts keeps the lock"},
	{"c/example.c", `"hold", `, `"run", `, "arguments", "it starts its helper with"},
	{"sh/example.sh", `kill "$locker"; wait`, `wait`, "release", "does not end within"},
	{"perl/example.pl", `open LOCKER, "-|", "locksmith"`, `open LOCKER, "-|", "nobody"`, "its end while it waits", "does not start"},
}

func TestWrongParents(t *testing.T) {
	lab.NotShort(t, "waits for what does not come")
	for _, w := range wrongParents {
		t.Run(w.part, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(examples + w.source)
			if err != nil || bytes.Count(text, []byte(w.old)) != 1 {
				t.Fatalf("%s has %q %d times, %v", w.source, w.old, bytes.Count(text, []byte(w.old)), err)
			}
			source := filepath.Join(t.TempDir(), strings.ReplaceAll(w.part, " ", "-")+filepath.Ext(w.source))
			if err := os.WriteFile(source, bytes.Replace(text, []byte(w.old), []byte(w.new), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			p := newParent(t, source)
			if strings.Contains(w.sees, "not end") || strings.Contains(w.sees, "not start") {
				p.within = 10 * time.Second // in vain
			}
			want := "broken"
			if w.part == "somebody has its output" {
				want = "note"
			}
			var o outcome
			for range chances {
				if o = p.play(w.part); o.word == want && strings.Contains(o.seen, w.sees) {
					return
				}
			}
			t.Errorf("the part says %q, %q; want %q, with %q", o.word, o.seen, want, w.sees)
		})
	}
}
