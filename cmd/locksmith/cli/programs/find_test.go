//go:build unix

package programs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFind: Find finds a program that is on PATH, can be run, and is not this one under another
// name.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"there": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"there": filepath.Join(dir, "there"), "data": "", "self": "", "none": ""} {
		if got := Find(name); got != want {
			t.Errorf("Find of %q gives %q, want %q (self is a link to this very program, data is not executable)", name, got, want)
		}
	}
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	if got := Find("there"); got != "" {
		t.Errorf("Find finds a program in the working directory: %s", got)
	}
}
