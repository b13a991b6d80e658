//go:build unix

package posix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestShare(t *testing.T) {
	dir := t.TempDir()
	like, made := filepath.Join(dir, "like"), filepath.Join(dir, "made")
	for _, d := range []string{like, made} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(like, 0o775|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := Share(made, like); err != nil {
		t.Fatal(err)
	}
	if mode := modeOf(t, made); mode != os.ModeDir|0o775 {
		t.Errorf("mode %v", mode)
	}
}

// TestShareFollowsNoLink: what a link leads to stays as it is, and so does what is
// no directory.
func TestShareFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	secret, link, file := filepath.Join(dir, "secret"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(secret, 0o700), os.Symlink(secret, link), os.WriteFile(file, nil, 0o600), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{link: unix.ENOTDIR, file: unix.ENOTDIR} {
		if err := Share(path, dir); !errors.Is(err, want) && !errors.Is(err, unix.ELOOP) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if a, b := modeOf(t, secret), modeOf(t, file); a.Perm() != 0o700 || b.Perm() != 0o600 {
		t.Errorf("modes %v, %v", a, b)
	}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode()
}
