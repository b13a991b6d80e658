package process

import (
	"fmt"
	"os"
	"testing"
)

// FuzzStat: a program may choose its name, and with it what its line in /proc looks
// like. No name makes a process that lives look ended or started at another time.
func FuzzStat(f *testing.F) {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	real, err := parseStat(string(raw))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"sh", "a) Z 1 1 1", ") X 0 (", "\n", "", "(sd-pam)", ")))) Z 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		_, _ = parseStat(name) // survives a line of any shape
		line := fmt.Sprintf("17 (%s)", name)
		for _, field := range real {
			line += " " + field
		}
		got, err := parseStat(line + "\n")
		if err != nil || got[0] != real[0] || got[19] != real[19] || ended(got) {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	})
}
