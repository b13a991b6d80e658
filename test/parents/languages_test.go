//go:build unix

package parents

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"locksmith/test/lab"
)

// A language is one in which parents are written.
type language struct {
	name     string
	program  string // the interpreter or compiler
	suffix   string
	compiled bool // a source is compiled to a program; else the interpreter runs it
	// threads says why threads cannot be tested, or ""; nil: they can.
	threads func() string
	// held and usage are what the parent dies with when the lock is held, and when it asks for
	// nonsense; "": the helper's line.
	held, usage string
}

// all returns the languages, plain and with the clients that we offer.
func all() []language { return slices.Concat(languages, clients) }

var languages = []language{
	{name: "sh", program: "sh", suffix: ".sh", threads: func() string { return "no threads in sh" }},
	{name: "perl", program: "perl", suffix: ".pl", threads: perlThreads},
	{name: "python", program: "python3", suffix: ".py"},
	{name: "tcl", program: "tclsh", suffix: ".tcl", threads: func() string { return "no threads in plain tclsh" }},
	{name: "node", program: "node", suffix: ".js"},
	{name: "c", program: "cc", suffix: ".c", compiled: true},
}

func perlThreads() string {
	if err := exec.Command("perl", "-Mthreads", "-e", "1").Run(); err != nil {
		return "this perl has no ithreads"
	}
	return ""
}

// command returns the command that runs the language's program of that name.
func (l language) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	return l.run(t, filepath.Join("testdata", l.name, name+l.suffix), args...)
}

// run returns the command that runs a source.
func (l language) run(t *testing.T, source string, args ...string) *exec.Cmd {
	t.Helper()
	if l.compiled {
		return exec.Command(lab.CompileC(t, source), args...)
	}
	return exec.Command(l.program, append([]string{source}, args...)...)
}
