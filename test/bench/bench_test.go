package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestQuick asks for a whole table and a plot, and for nothing that depends on the
// machine: run itself fails on lost updates, hangs and locks that are left behind.
func TestQuick(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds programs and reads Linux's /proc")
	}
	temp, plot := t.TempDir(), filepath.Join(t.TempDir(), "curves.svg")
	t.Setenv("TMPDIR", temp)
	var out strings.Builder
	if err := run(t.Context(), settings{plan: quick, only: regexp.MustCompile(""), plot: plot, log: t.Output()}, &out); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &out)
	mustBeTable(t, out.String())
	if os.Getenv("CI") == "true" && strings.Contains(out.String(), "not installed") {
		t.Error("rivals are missing; test/run installs them")
	}
	mustBeXML(t, plot)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func mustBeTable(t *testing.T, out string) {
	t.Helper()
	heading, text, _ := strings.Cut(strings.TrimSpace(out), "\n\n")
	if !strings.Contains(heading, "load average") {
		t.Errorf("it does not say of what machine it is: %q", heading)
	}
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if strings.Count(line, "|") != len(head.cells())+1 || utf8.RuneCountInString(line) != utf8.RuneCountInString(lines[0]) {
			t.Errorf("not a row of an aligned table: %s", line)
		}
	}
	for _, want := range wanted {
		if !regexp.MustCompile(`(?m)^\| ` + want).MatchString(text) {
			t.Errorf("no row like %q", want)
		}
	}
}

// wanted are rows of the table, as regular expressions.
var wanted = []string{
	`ms to take, run true, release +\| locksmith local:`,
	` +\| bare Go spawn .*local: ≤ 1.25x, nfs: ≤ 1.5x`,
	` +\| s6-setlock `, ` +\| dotlockfile .*≥ 5x`, ` +\| lockfile .*≥ 5x`, ` +\| etcdctl lock `,
	`hand-offs a second, 8 processes, each time a command`, `increments a second, 8 processes, each time a command`,
	`hand-offs a second, 8 processes, in loops`, ` +\| flufl.lock .*≥ 5x`, ` +\| proper-lockfile .*≥ 5x`, ` +\| File::NFSLock .*≥ 5x`,
	` +\| without helper, nfs: .*≥ 300`,
	`ms from release to the next OK, p50 +\| locksmith local: .*≤ 1 `, `ms from release to the next OK, p99`,
	`context switches a second of 10 waiters together +\| locksmith local: .*≤ 0 `,
	`commands a second to the server of 10 waiters together, after 2s +\| locksmith ftp:`,
	`MiB \(PSS\) of the largest of 10 .*\| locksmith local: .*≤ 1.6 `, ` +\| locksmith nfs: .*≤ 1.6 `,
	` +\| locksmith local:, GOMAXPROCS=1 .*≤ 1.6 `,
	`hand-offs a second of 4 that queue`, `processor time for a hand-off of n waiters ~ n to the power of .*\| locksmith local: .*≤ 1 `,
}

func mustBeXML(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	curves := 0
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if e, is := token.(xml.StartElement); is && e.Name.Local == "polyline" {
			curves++
		}
	}
	if curves != 4*4 {
		t.Errorf("%d curves in four panels", curves)
	}
}
