package wine

import (
	"path/filepath"
	"regexp"
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
	{"backends/owner", "Record|Patience|ID", "Wine has no process System, by whose start a boot is told from others"},
	{"client", "AcquireRelease|Held|HelperKilled|Outlives|Cancelled", "the others need a shell, or other kinds of locks, or to be told that an open file was removed"},
	{"backends/local", "OtherHost|WaitEnds|WakeNobody|WallClock|RestartsTheWatch|NumbersThat|BreakerLooks|FinishesBefore|TooEarly",
		"Wine keeps no attributes of files, deletes none that is open, and proves no death; and there is no sleep(1)"},
}

func testPackages(t *testing.T, m *machine) {
	for _, p := range packages {
		t.Run(p.pkg, func(t *testing.T) {
			m := &machine{t, m.prefix}
			program := strings.ReplaceAll(p.pkg, "/", "_") + ".test.exe"
			m.install(program, "./"+p.pkg, "test", "-c")
			args := []string{"-test.short", "-test.v", "-test.timeout=3m"}
			if p.tests != "" {
				t.Logf("only %s: %s", p.tests, p.why)
				args = append(args, "-test.run", p.tests)
			}
			cmd := m.wine(program, args...)
			cmd.Dir = filepath.Join("..", "..", p.pkg)
			out, err := m.output(cmd)
			for _, failure := range failures(out) {
				t.Error(failure)
			}
			if !strings.Contains(out, "=== RUN") {
				t.Errorf("nothing passed: %v\n%s", err, out)
			}
		})
	}
}

var (
	failed = regexp.MustCompile(`^\s*--- FAIL: `)
	// Wine 8 does not know how Go removes the directories of tests.
	notRemoved = regexp.MustCompile(`TempDir RemoveAll cleanup: .*(Invalid function|Directory not empty)`)
)

// failures are the messages of tests that failed, but for those of which only a
// directory could not be removed.
func failures(out string) (all []string) {
	inFailure := false
	for line := range strings.Lines(out) {
		switch {
		case failed.MatchString(line):
			inFailure = true
		case strings.HasPrefix(strings.TrimSpace(line), "--- ") || strings.HasPrefix(line, "=== "):
			inFailure = false
		case inFailure && !notRemoved.MatchString(line) && strings.HasPrefix(line, " "), strings.HasPrefix(line, "panic:"):
			all = append(all, strings.TrimRight(line, "\n"))
		}
	}
	return all
}
