package lab

import (
	"os"
	"strings"
	"testing"
)

// guide is the guide's path, as seen from a folder of tests.
const guide = "../../cmd/locksmith/README.md"

// BlockOfGuide returns the block of text in the guide that begins with these words.
func BlockOfGuide(t testing.TB, begin string) string {
	t.Helper()
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```text\n"+begin)
	block, _, _ := strings.Cut(rest, "```")
	if !found {
		t.Fatalf("the guide has no block that begins with %q", begin)
	}
	return begin + block
}
