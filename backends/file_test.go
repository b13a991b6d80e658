package backends

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIsFile: a path that leads to a lock is known in every spelling, and no other.
func TestIsFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"place/deep", "other"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "place", "down": "place/deep"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]bool{
		filepath.Join(dir, "place/a b%"): true,
		"place/a b%":                     true,
		"./place//a b%":                  true,
		"link/a b%":                      true,
		"other/../place/a b%":            true,
		"down/../a b%":                   true, // not what it looks like
		"other/a b%":                     false,
		"place/a b":                      false,
		"place/missing/../a b%":          false,
		"a b%":                           false,
		"place/":                         false,
		"":                               false,
	} {
		for _, kind := range []string{"local:", "link:", "nfs:", "mkdir:"} {
			for _, place := range []string{"place", "link"} {
				lock := kind + filepath.Join(dir, place) + "/a b%25"
				if got := IsFile(lock, file); got != want {
					t.Errorf("%s, %s: %t", lock, file, got)
				}
			}
		}
		if IsFile("ftp://u@h"+dir+"/place/a b%25", file) {
			t.Errorf("%s is on a server", file)
		}
	}
	t.Chdir("place")
	if !IsFile("local:"+dir+"/link/a", "a") || !IsFile("local:"+dir+"/link/a?dir=any", "./a") {
		t.Error("a file here is not known")
	}
}
