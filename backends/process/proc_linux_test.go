package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// TestProcOfOthers: if /proc has other numbers than we have, it is not believed. The process with
// our number there is another.
func TestProcOfOthers(t *testing.T) {
	if !lab.InForeignProc(t) {
		return
	}
	if err := CheckProc(); !errors.Is(err, ErrNotVisible) {
		t.Errorf("CheckProc: %v", err)
	}
	self, err := Find(os.Getpid())
	if !errors.Is(err, ErrNotVisible) || self.Start != 0 {
		t.Errorf("we are %+v (%v)", self, err)
	}
	if (Process{PID: os.Getpid(), Start: 1}).Gone() {
		t.Error("who lives counts as gone, because another started at another time")
	}
	if !(Process{PID: MaxPID - 1}).Gone() {
		t.Error("who is gone is not")
	}
}

// TestNumbers: /proc is believed if it knows one number of ours, which is the one that we know. In
// the /proc of a namespace around ours the first of several may be the same by chance.
func TestNumbers(t *testing.T) {
	const before = "Name:\tx\nPid:\t7\nGroups:\t0 7\nNStgid:\t7\n"
	for status, believed := range map[string]bool{
		before + "NSpid:\t7\nNSpgid:\t7\n": true,
		before + "NSpid:\t7\t7\n":          false,
		before + "NSpid:\t4242\t7\n":       false,
		before + "NSpid:\t8\n":             false,
		before + "NSpid:\t\n":              false,
		before:                             false,
		"":                                 false,
	} {
		if err := checkNumbers(status, 7); believed != (err == nil) || err != nil && !errors.Is(err, ErrNotVisible) {
			t.Errorf("pid 7 in %q: %v, want that it is believed: %v", status, err, believed)
		}
	}
}

// TestUnseenNamespace: a container is not said to be gone by who may not look at its processes, as root
// in a container with the host's pid namespace.
func TestUnseenNamespace(t *testing.T) {
	const asked = "LOCKSMITH_TEST_NAMESPACE"
	if name := os.Getenv(asked); name != "" {
		if used, known := UsesNamespace(name); known && !used {
			t.Errorf("a namespace in which a process lives is said to be gone")
		}
		return
	}
	lab.NotShort(t, "makes a container")
	lab.NeedRoot(t)
	lab.NeedProgram(t, "setpriv")
	box := lab.Start(t, exec.Command("unshare", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", "readlink /proc/self/ns/pid; exec sleep 300"))
	name := box.Line()
	if used, known := UsesNamespace(name); known && !used {
		t.Errorf("root does not see the processes of %s", name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	look := exec.Command("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all", self, "-test.run=^TestUnseenNamespace$", "-test.v")
	look.Env = append(os.Environ(), asked+"="+name)
	if status, said := lab.Run(t, look); status != 0 || !strings.Contains(said, "--- PASS") {
		t.Errorf("without CAP_SYS_PTRACE: exit status %d\n%s", status, said)
	}
}

// TestMainThreadGone: a process whose main thread has ended shows the state of
// a zombie while its other threads work.
func TestMainThreadGone(t *testing.T) {
	c := lab.StartC(t, `#include <pthread.h>
#include <unistd.h>
static void *work(void *x) { sleep(60); return x; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_exit(0); }
`)
	p := Process{PID: c.PID()}
	lab.Eventually(t, "the main thread has ended", func() bool {
		s, err := ReadStat(p.PID)
		return err == nil && s.State == "Z"
	})
	if p.Gone() {
		t.Error("a process that still works counts as gone")
	}
	c.Kill()
	if !p.Gone() {
		t.Error("a killed process does not count as gone")
	}
}

// FuzzStat: a program may choose its name, and so what its line in /proc looks like. No name
// makes a living process look as if it had ended, or had started at another time.
func FuzzStat(f *testing.F) {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	real, err := parseStat(string(raw))
	if err != nil {
		f.Fatal(err)
	}
	rest := raw[bytes.LastIndexByte(raw, ')')+1:]
	for _, name := range []string{"sh", "a) Z 1 1 1", ") X 0 (", "\n", "", "(sd-pam)", ")))) Z 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		_, _ = parseStat(name) // a line of any shape makes it fail, not panic
		want := real
		want.Name = name
		got, err := parseStat(fmt.Sprintf("17 (%s)%s", name, rest))
		if err != nil || got != want || got.Ended {
			t.Errorf("the name %q is read as %+v (%v), want %+v", name, got, err, want)
		}
	})
}

// TestArguments: an argument that is not shown to its end is left out.
func TestArguments(t *testing.T) {
	long := strings.Repeat("x", 2000)
	for _, args := range [][]string{{"one", "", "three"}, {"one", long}} {
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "echo; read x"}, args...)...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 1)) // it may show no arguments until it runs
		want := slices.DeleteFunc(slices.Clone(cmd.Args), func(a string) bool { return a == long })
		if got := Arguments(cmd.Process.Pid); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
	if got := Arguments(MaxPID - 1); len(got) > 0 {
		t.Errorf("of nobody: %q", got)
	}
}
