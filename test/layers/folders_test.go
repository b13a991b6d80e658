package layers

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the top of the sources, from here.
const root = "../.."

// TestFolders: the page about the tests says what each folder is for.
func TestFolders(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !strings.Contains(string(page), "`"+f.Name()+"`") {
			t.Errorf("test/README.md does not say what test/%s is for", f.Name())
		}
	}
}

// TestCarryingOn: the files, folders and tests exist that the page for those who carry on names.
func TestCarryingOn(t *testing.T) {
	text, err := os.ReadFile("../CARRYING-ON.md")
	if err != nil {
		t.Fatal(err)
	}
	page, named := string(text), 0
	mustExist := func(path string) {
		named++
		if _, err := os.Stat(path); err != nil {
			t.Errorf("test/CARRYING-ON.md names what is not there: %v", err)
		}
	}
	for _, m := range regexp.MustCompile("`([a-zA-Z0-9_./-]+/[a-zA-Z0-9_./-]+)`").FindAllStringSubmatch(page, -1) {
		if m[1] != "backends/KIND" {
			mustExist(filepath.Join(root, m[1]))
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(page, -1) {
		mustExist(filepath.Join("..", m[1]))
	}
	for _, m := range regexp.MustCompile("`((?:Test|Example)[A-Z][A-Za-z]+)`").FindAllStringSubmatch(page, -1) {
		named++
		if err := exec.Command("grep", "-rqE", "--include=*_test.go", "^func "+m[1]+`\(`, root).Run(); err != nil {
			t.Errorf("test/CARRYING-ON.md names the test %s, which is not there: %v", m[1], err)
		}
	}
	if named < 50 {
		t.Errorf("only %d files and tests were found on test/CARRYING-ON.md: does the page still write them in backquotes?", named)
	}
}
