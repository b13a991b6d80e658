package lab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// top is the top of the repository, as seen from a folder of tests.
const top = "../.."

// GuideIndex is the index of the guide's pages, seen from the top.
const GuideIndex = "cmd/locksmith/README.md"

// GuidePages are the pages of the guide, seen from the top: the index first. Each test that reads the guide
// reads all of them, so that a text may move from one to another.
func GuidePages(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "cmd/locksmith/guide/*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the guide has no pages: %v", err)
	}
	for i, file := range files {
		files[i], err = filepath.Rel(top, file)
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Insert(files, 0, GuideIndex)
}

// GuideText is the text of all pages of the guide.
func GuideText(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, file := range GuidePages(t) {
		page, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(page)
	}
	return b.String()
}

// BlockOfGuide returns the block of text in the guide that begins with these words.
func BlockOfGuide(t testing.TB, begin string) string {
	t.Helper()
	_, rest, found := strings.Cut(GuideText(t), "```text\n"+begin)
	block, _, _ := strings.Cut(rest, "```")
	if !found {
		t.Fatalf("the guide has no block that begins with %q", begin)
	}
	return begin + block
}
