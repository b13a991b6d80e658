package layers

import (
	"os"
	"strings"
	"testing"
)

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
