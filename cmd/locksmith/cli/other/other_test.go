//go:build unix

package other

import (
	"os"
	"path/filepath"
	"testing"
)

func TestScheme(t *testing.T) {
	for address, want := range map[string]string{
		"s3://bucket/x": "s3", "demo:/x": "demo", "a+b.c-d:": "a+b.c-d", "demo": "", ":/x": "", "Demo:/x": "", "3s:/x": "",
		"../demo:/x": "", "a b:/x": "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:/x": "",
	} {
		if got, ok := Scheme(address); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t", address, got, ok)
		}
	}
}

// TestFind: a program is on PATH, can be run, and is not this one under another name.
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
			t.Errorf("%s: %q", name, got)
		}
	}
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	if got := Find("there"); got != "" {
		t.Errorf("in the directory where we happen to be: %s", got)
	}
}
