package backendtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Clutter puts a directory, a file or a symbolic link of each of these names into a
// directory, and returns what it put there.
func Clutter(t *testing.T, dir string, names []string) []string {
	t.Helper()
	var put []string
	for i, name := range names {
		path := filepath.Join(dir, name)
		put = append(put, path)
		switch i % 3 {
		case 0:
			MustWork(t, os.Mkdir(path, 0o755))
		case 1:
			MustWork(t, os.WriteFile(path, []byte("mine"), 0o644))
		default:
			MustWork(t, os.Symlink("/etc/passwd", path))
		}
	}
	return put
}

// MustBeThere makes sure that nobody removed what Clutter put there.
func MustBeThere(t *testing.T, put []string) {
	t.Helper()
	for _, path := range put {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
}

// MustStay makes sure that a deed changes nothing below a directory.
func MustStay(t *testing.T, dir string, deed func()) {
	t.Helper()
	before := listing(t, dir)
	deed()
	if after := listing(t, dir); after != before {
		t.Errorf("there was\n%s, now\n%s", before, after)
	}
}

// listing is what is below a directory, with types, links not followed.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	MustWork(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil {
			b.WriteString(e.Type().String() + " " + path + "\n")
		}
		return err
	}))
	return b.String()
}
