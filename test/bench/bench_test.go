package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestQuick asks for a whole table and for nothing that depends on the machine:
// run itself fails on lost updates, hangs and locks that are left behind.
func TestQuick(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds programs and reads Linux's /proc")
	}
	var out strings.Builder
	if err := run(t.Context(), quick, &out); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if strings.Count(line, "|") != len(head)+1 || utf8.RuneCountInString(line) != utf8.RuneCountInString(lines[0]) {
			t.Errorf("not a row of an aligned table: %s", line)
		}
	}
	for _, want := range [][]string{
		{"ms to take, run true, release", "bare Go spawn", "≤ 1.25x"},
		{"ms to take, run true, release", "flock(1)"},
		{"increments a second", "mkdir loop", "≥ 4x"},
		{"increments a second", "flock(1)"},
		{"nfs: the same", "mkdir loop"},
		{"nfs: increments a second, 8 looping", "mkdir loop", "≥ 300"},
		{"nfs: ms from release", "mkdir loop"},
		{"context switches", "flock(1)", "≤ 0"},
		{"(PSS) of one of 10 helpers", "bare Go program", "≤ 1.6"},
		{"(PSS) of the largest", "bare Go program", "≤ 1.6"},
	} {
		if !hasRow(lines, want) {
			t.Errorf("no row with %q", want)
		}
	}
}

// TestCheckCounter makes sure that the benchmark would notice.
func TestCheckCounter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counter")
	for text, ok := range map[string]bool{"3\n": true, "2\n": false, "": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkCounter(path, 3); (err == nil) != ok {
			t.Errorf("three increments left %q: %v", text, err)
		}
	}
}

func hasRow(lines []string, cells []string) bool {
	for _, line := range lines {
		found := 0
		for _, cell := range cells {
			if strings.Contains(line, cell) {
				found++
			}
		}
		if found == len(cells) {
			return true
		}
	}
	return false
}
