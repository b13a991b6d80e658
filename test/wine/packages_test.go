package wine

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A choice is the tests of a package that can pass here; without any, all can.
type choice struct{ pkg, tests, why string }

// The packages whose tests run under Wine, and which.
var packages = []choice{
	{pkg: "protocol"},
	{pkg: "backends/clock"},
	{pkg: "backends/process"},
	{pkg: "locksmith"},
	{pkg: "backends/watch"},
	{"backends/owner", "Record|ID", "Wine has no process System, by whose start a boot is told from others"},
	{"client", "AcquireRelease|Held|HelperKilled|Outlives|Cancelled|WaitingForOurs", "the others need a shell, or other kinds of locks, or to be told that an open file was removed"},
	{"backends/local", "OtherHost|WaitEnds|WakeNobody|WallClock|RestartsTheWatch|NumbersThat|BreakerLooks|FinishesBefore|TooEarly",
		"Wine keeps no attributes of files, deletes none that is open, and proves no death; and there is no sleep(1)"},
}

func testPackages(t *testing.T, m *machine) {
	for _, p := range packages {
		t.Run(p.pkg, func(t *testing.T) {
			t.Parallel()
			m := &machine{t, m.prefix}
			program := strings.ReplaceAll(p.pkg, "/", "_") + ".test.exe"
			m.install(program, "./"+p.pkg, "test", "-c", "-vet=off")
			args := []string{"-test.short", "-test.timeout=20m"}
			if p.tests != "" {
				t.Logf("only %s: %s", p.tests, p.why)
				args = append(args, "-test.run", p.tests)
			}
			cmd := m.wine(program, args...)
			cmd.Dir = filepath.Join("..", "..", p.pkg)
			out, err := m.output(cmd)
			for _, fault := range faults(out, err) {
				t.Error(fault)
			}
		})
	}
}

var (
	failed = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)
	ended  = regexp.MustCompile(`(?m)^(PASS|FAIL)\r?$`)
	// Wine 8 does not know how Go removes the directories of tests.
	notRemoved = regexp.MustCompile(`TempDir RemoveAll cleanup: .*(Invalid function|Directory not empty)`)
)

// A failure is a test that failed, and what it said.
type failure struct {
	test    string
	said    []string
	excused bool // a directory could not be removed
}

// faults returns what is wrong with a run of tests, by its output (without -test.v, which prints
// a test's messages before its name) and its exit status. The exit status means nothing if the
// only trouble was that a directory could not be removed.
func faults(out string, err error) (all []string) {
	failures := read(out)
	for _, f := range failures {
		inside := func(other *failure) bool { return strings.HasPrefix(other.test, f.test+"/") }
		if len(f.said) == 0 && !f.excused && !slices.ContainsFunc(failures, inside) {
			f.said = []string{"it says nothing\n"}
		}
		if len(f.said) > 0 {
			all = append(all, f.test+":\n"+strings.Join(f.said, ""))
		}
	}
	switch {
	case strings.Contains(out, "no tests to run"):
		all = append(all, "no test was run")
	case !ended.MatchString(out):
		all = append(all, fmt.Sprintf("the tests did not come to their end: %v\n%s", err, out))
	case err != nil && len(failures) == 0:
		all = append(all, fmt.Sprintf("%v, but no test failed:\n%s", err, out))
	}
	return all
}

// read finds the tests that failed.
func read(out string) (all []*failure) {
	var last *failure
	for line := range strings.Lines(out) {
		name := failed.FindStringSubmatch(line)
		switch {
		case name != nil:
			last = &failure{test: name[1]}
			all = append(all, last)
		case last == nil || !strings.HasPrefix(line, " ") || strings.HasPrefix(strings.TrimSpace(line), "--- "):
			last = nil
		case notRemoved.MatchString(line):
			last.excused = true
		default:
			last.said = append(last.said, line)
		}
	}
	return all
}

// TestFaults: what goes wrong under Wine is seen.
func TestFaults(t *testing.T) {
	const (
		fails   = "--- FAIL: TestX (0.00s)\n"
		says    = "    x_test.go:1: wrong\n"
		remains = "    testing.go:1: TempDir RemoveAll cleanup: unlinkat C:\\x: Directory not empty.\n"
		inside  = "    --- FAIL: TestX/y (0.00s)\n"
	)
	one := errors.New("exit status 1")
	for name, c := range map[string]struct {
		out  string
		err  error
		want string // nothing is wrong if empty
	}{
		"pass":                     {"PASS\n", nil, ""},
		"pass, with Windows' ends": {"PASS\r\n", nil, ""},
		"a failure":                {fails + says + "FAIL\n", one, "TestX:\n" + says},
		"one inside another":       {fails + inside + "    " + says + "FAIL\n", one, "TestX/y:"},
		"one that says nothing":    {fails + "FAIL\n", one, "it says nothing"},
		"only a directory":         {fails + remains + "FAIL\n", one, ""},
		"only one inside another":  {fails + inside + "    " + remains + "FAIL\n", one, ""},
		"a directory and more":     {fails + remains + says + "FAIL\n", one, "wrong"},
		"a directory and another":  {fails + remains + "--- FAIL: TestZ (0.00s)\nFAIL\n", one, "TestZ:\nit says nothing"},
		"a panic":                  {fails + "panic: boom [recovered]\n", errors.New("exit status 2"), "come to their end"},
		"an end before the end":    {"", one, "come to their end"},
		"a status without a cause": {"PASS\n", one, "no test failed"},
		"no tests":                 {"testing: warning: no tests to run\nPASS\n", nil, "no test was run"},
	} {
		got := faults(c.out, c.err)
		if c.want == "" && len(got) > 0 || c.want != "" && !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
