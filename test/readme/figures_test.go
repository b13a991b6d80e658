package readme

import (
	"strings"
	"testing"
)

// TestFigures: README's figures are rows of the table that the benchmark has written.
func TestFigures(t *testing.T) {
	whole := read(t, "test/bench/README.md")
	_, rest, _ := strings.Cut(read(t, "README.md"), "## Speed\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") {
			rows++
			if !strings.Contains(whole, line) {
				t.Errorf("test/bench/README.md has no row\n%s", line)
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows of figures", rows)
	}
}
