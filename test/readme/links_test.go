//go:build unix

package readme

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks: each link of a page leads to a file that is there, and to a heading that it has.
func TestLinks(t *testing.T) {
	n := 0
	for _, page := range allPages(t) {
		text := fence.ReplaceAllString(read(t, page), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // the web
			}
			n++
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s leads to %s, which is not there", page, m[1])
			} else if anchor != "" && !headings(read(t, file))[anchor] {
				t.Errorf("%s leads to %s, and %s has no such heading", page, m[1], file)
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d links were found", n)
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// headings are the anchors of a page.
func headings(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		all[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

// allPages are the pages of the repository, seen from the top.
func allPages(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			page, err := filepath.Rel(root, path)
			all = append(all, page)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
