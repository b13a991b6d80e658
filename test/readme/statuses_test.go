package readme

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/cmd/locksmith/cli"
)

// TestExitStatuses: the guide and the man pages say the same of them.
func TestExitStatuses(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "cmd/locksmith/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(readme), "`", "")
	for _, e := range cli.ExitStatuses() {
		if row := "| " + e.Term + " | " + e.Text + " |"; !strings.Contains(text, row+"\n") {
			t.Errorf("the guide has no row %s", row)
		}
	}
}
