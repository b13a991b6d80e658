package machines

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
	"locksmith/test/lab/contest"
)

// A processor is what programs are built for, and what runs them here: nothing, or qemu.
type processor struct {
	name, qemu, differs string
}

var processors = []processor{
	{"arm", "qemu-arm-static", "32 bits"}, // the one that runs without -long
	{"386", "", "32 bits, by the kernel itself"},
	{"arm64", "qemu-aarch64-static", "other numbers of system calls"},
	{"s390x", "qemu-s390x-static", "the first byte of a number is its highest"},
	{"riscv64", "qemu-riscv64-static", "renameat2(2) alone"},
}

// suites are the packages whose conformance suite needs only a disk.
var suites = []string{"nfs", "local", "mkdirlock", "link"}

// TestProcessors: on each processor the backends pass the conformance suite. With -long, programs for
// it and for this processor contend for locks and are killed, and no two have a lock at the same time.
func TestProcessors(t *testing.T) {
	lab.NotShort(t, "compiles for other processors")
	if runtime.GOARCH != "amd64" {
		lab.Lacking(t, "what is compared is amd64 with others")
	}
	table := "| processor | differs in | runs by | conformance suite | contest with amd64 | measured |\n| --- | --- | --- | --- | --- | --- |\n"
	chosen := processors[:1]
	if *long {
		chosen = processors
	}
	for _, p := range chosen {
		t.Run(p.name, func(t *testing.T) {
			p.need(t)
			passed := p.conform(t)
			if !*long {
				return // all of a program would be compiled for it
			}
			holds, kills := p.contend(t)
			by := "the kernel for amd64"
			if p.qemu != "" {
				by = p.qemu
			}
			table += fmt.Sprintf("| %s | %s | %s | %s | no overlap in %d holds, %d kills | %s |\n", p.name, p.differs, by, passed, holds, kills, time.Now().Format("2006-01-02"))
		})
	}
	if t.Failed() || !*long {
		return // the page has all suites
	}
	lab.Publish(t, page, "Processors", fmt.Sprintf(`Written by %s, on Linux %s. The suites are those of the packages below
%s: every step of a lock's life, with many holders at the same time. In a contest programs for both processors take the same locks of
%s, and one in four is killed with -9. Each of both
shows the other's lock with the same words. What is not in the table was not measured.

%s`, "`go test ./test/machines -long -update`", release(), "`backends`", "`local:`, `link:`, `nfs:` and `mkdir:` in both styles", table), *update)
}

// need skips where nothing runs programs for the processor. Some kernels for amd64 refuse those of
// 32 bits, which only a run shows.
func (p processor) need(t *testing.T) {
	t.Helper()
	if p.qemu != "" {
		lab.NeedProgram(t, p.qemu)
		return
	}
	if err := exec.Command(p.build(t, "check", "build", "cmd/locksmith-check"), "--help").Run(); errors.Is(err, unix.ENOEXEC) {
		lab.Lacking(t, "this kernel runs no programs for "+p.name)
	}
}

// build compiles for the processor, and returns the file.
func (p processor) build(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", append(arguments[:len(arguments)-1:len(arguments)-1], "-o", file, "locksmith/"+arguments[len(arguments)-1])...)
	cmd.Env = append(os.Environ(), "GOARCH="+p.name, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return file
}

// command runs a program for the processor.
func (p processor) command(file string, arguments ...string) *exec.Cmd {
	if p.qemu == "" {
		return exec.Command(file, arguments...)
	}
	return exec.Command(p.qemu, append([]string{file}, arguments...)...)
}

// conform runs the suites, or without -long one of them, and returns which passed.
func (p processor) conform(t *testing.T) string {
	t.Helper()
	all := suites
	if !*long {
		all = suites[:1]
	}
	for _, suite := range all {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			cmd := p.command(p.build(t, "suite", "test", "-c", "-vet=off", "backends/"+suite), "-test.run", "^TestConformance", "-test.v")
			cmd.Dir = filepath.Join("../../backends", suite)
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Count(string(out), "--- PASS") < 15 {
				t.Errorf("%v: %v\n%s", cmd, err, out)
			}
		})
	}
	return strings.Join(all, ", ")
}

// contend has programs for both processors contend for locks. It returns how often they had one,
// and how many were killed.
func (p processor) contend(t *testing.T) (holds, kills int) {
	t.Helper()
	theirs := p.build(t, "locksmith", "build", "cmd/locksmith")
	programs := []func(arguments ...string) *exec.Cmd{
		func(arguments ...string) *exec.Cmd {
			return exec.Command(lab.Program(t, "cmd/locksmith"), arguments...)
		},
		func(arguments ...string) *exec.Cmd { return p.command(theirs, arguments...) },
	}
	for _, of := range disk(t) {
		t.Run(of.name, func(t *testing.T) {
			sameWords(t, of.lock("seen"), programs)
			c := &contest.Contest{
				Log: contest.NewLog(t), Rounds: 40,
				Command: func(flags []string, command ...string) *exec.Cmd {
					arguments := append(append([]string{"run"}, flags...), append([]string{of.lock("contest"), "--"}, command...)...)
					return programs[rand.IntN(len(programs))](arguments...)
				},
			}
			<-c.Start(t, 4)
			record := c.Log.Check(t, of.name == "nfs:" || of.name == "mkdir:?style=dir")
			holds, kills = holds+len(record.Held), kills+len(record.Kills)
		})
	}
	return holds, kills
}

// sameWords makes sure that each program shows another's holder as the other program does.
func sameWords(t *testing.T, lock string, programs []func(...string) *exec.Cmd) {
	t.Helper()
	for i, program := range programs {
		h := lab.Hold(t, program("hold", "--meta", "job=nightly", lock))
		h.Held()
		var shown []string
		for _, other := range programs {
			status, said := lab.Run(t, other("status", "--json", lock))
			if status != 0 {
				t.Errorf("status of %s: exit status %d: %s", lock, status, said)
			}
			shown = append(shown, changing.ReplaceAllString(said, ""))
		}
		if shown[0] != shown[1] || !strings.Contains(shown[0], "nightly") {
			t.Errorf("status differs between processors: program %d holds %s; one shows\n%s\nand the other\n%s", i, lock, shown[0], shown[1])
		}
		h.Release()
	}
}

// changing matches what differs from moment to moment.
var changing = regexp.MustCompile(`"((age|heartbeat|silent)_ms|acquired)": ?[^,\n]+,?`)
