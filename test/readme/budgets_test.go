//go:build unix

package readme

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"locksmith/test/lab"
)

// TestBudgets: a page is short enough to be read by somebody who has a task.
func TestBudgets(t *testing.T) {
	words := map[string]int{
		"batch.md":      1000,
		"containers.md": 600,
		"crontabs.md":   1500,
		"etcd.md":       800,
		"ftp.md":        1200,
		"nfs.md":        1000,
		"operators.md":  1800,
		"programs.md":   900,
		"reference.md":  2500,
		"s3.md":         1400,
		"sftp.md":       1000,
	}
	for _, page := range lab.GuidePages(t)[1:] {
		most, known := words[filepath.Base(page)]
		if !known {
			t.Errorf("%s has no budget: which reader is it for?", page)
		} else if n := wordsOf(read(t, page)); n > most {
			t.Errorf("%s has %d words, at most %d: what does its reader not need?", page, n, most)
		}
	}
	for page, most := range map[string]int{"README.md": 120, lab.GuideIndex: 80} {
		if n := strings.Count(read(t, page), "\n"); n > most {
			t.Errorf("%s has %d lines, at most %d", page, n, most)
		}
	}
}

// wordsOf counts what has a letter or digit, in commands, too.
func wordsOf(text string) (n int) {
	for _, field := range strings.Fields(text) {
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// TestIndex: the index of the guide leads to each page.
func TestIndex(t *testing.T) {
	index := read(t, lab.GuideIndex)
	for _, page := range lab.GuidePages(t)[1:] {
		if link := "](guide/" + filepath.Base(page) + ")"; !strings.Contains(index, link) {
			t.Errorf("%s does not lead to %s", lab.GuideIndex, page)
		}
	}
}

// TestRules: pages that show the alert rules show the same ones, so that no reader need look at another page.
func TestRules(t *testing.T) {
	want := lab.BlockOfGuide(t, "groups:\n")
	n := 0
	for _, page := range lab.GuidePages(t) {
		for _, b := range blocksOf(t, page) {
			if strings.HasPrefix(b.text, "groups:\n") {
				n++
				if b.text != want {
					t.Errorf("%s shows other alert rules than the page before", page)
				}
			}
		}
	}
	if n < 2 {
		t.Errorf("%d pages show the alert rules", n)
	}
}
