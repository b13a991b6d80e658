//go:build linux

package nfslab

import (
	"regexp"
	"strings"
)

// A result is what the guest said of one scenario.
type result struct {
	name    string
	verdict string // PASS, FAIL, SKIP; "" when it did not end
	took    string
	output  string
}

var (
	runLine = regexp.MustCompile(`^=== RUN   TestGuest/([^/\s]+)$`)
	endLine = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): TestGuest/([^/\s]+) (\(.*\))$`)
)

// parse finds the scenarios in the output of a test with -test.v=test2json, that
// tells the end of each at once, and marks its own lines. A scenario's own
// subtests are part of its output.
func parse(out string) []result {
	var all []result
	open := false
	for line := range strings.Lines(strings.ReplaceAll(out, "\x16", "")) {
		line = strings.TrimSuffix(line, "\n")
		if m := runLine.FindStringSubmatch(line); m != nil {
			all, open = append(all, result{name: m[1]}), true
		} else if m := endLine.FindStringSubmatch(line); m != nil && open && m[2] == all[len(all)-1].name {
			all[len(all)-1].verdict, all[len(all)-1].took, open = m[1], m[3], false
		} else if open && !strings.HasPrefix(line, "=== ") {
			all[len(all)-1].output += line + "\n"
		}
	}
	return all
}
