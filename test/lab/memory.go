package lab

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// PSS is a process's proportional set size in KiB: its own memory, and its share of the memory
// that it has in common with others (proc_pid_smaps(5)).
func PSS(t testing.TB, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "Pss: %d kB", &n); err == nil {
			return n
		}
	}
	t.Fatalf("no Pss in %q", text)
	return 0
}
