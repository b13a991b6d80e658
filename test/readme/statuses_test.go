//go:build unix

package readme

import (
	"strings"
	"testing"

	"locksmith/cmd/locksmith/cli"
	"locksmith/test/lab"
)

// TestExitStatuses: the guide and the man pages say the same about exit statuses.
func TestExitStatuses(t *testing.T) {
	text := strings.ReplaceAll(lab.GuideText(t), "`", "")
	for _, e := range cli.ExitStatuses() {
		if row := "| " + e.Term + " | " + e.Text + " |"; !strings.Contains(text, row+"\n") {
			t.Errorf("the guide has no row %s, as the man pages have it (cli.ExitStatuses, protocol.Code.Exit)", row)
		}
	}
}
