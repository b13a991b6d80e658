//go:build unix

package posix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backendtest"
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

// TestShareAnothers: whose directory it is does not matter if they may write already,
// as on an NFS server that holds us for somebody else. Else the system decides.
func TestShareAnothers(t *testing.T) {
	const variable = "LOCKSMITH_TEST_ANOTHERS"
	if os.Geteuid() == 0 {
		dir := backendtest.PublicDir(t, 0o755)
		makeDir(t, filepath.Join(dir, "open"), 0o777)
		makeDir(t, filepath.Join(dir, "closed"), 0o755)
		makeDir(t, filepath.Join(dir, "like"), 0o775)
		if err := os.Chown(filepath.Join(dir, "like"), -1, backendtest.Staff); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, dir)
	}
	if !backendtest.AsNobody(t) {
		return
	}
	dir := os.Getenv(variable)
	if dir == "" {
		backendtest.Lacking(t, "only root can make directories of two users")
	}
	for name, want := range map[string]error{"open": nil, "closed": unix.EPERM} {
		if err := Share(filepath.Join(dir, name), filepath.Join(dir, "like")); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestShareLeavesOthersAlone: root does not open what is somebody else's.
func TestShareLeavesOthersAlone(t *testing.T) {
	backendtest.NeedRoot(t)
	dir := t.TempDir()
	like, made := filepath.Join(dir, "like"), filepath.Join(dir, "made")
	makeDir(t, like, 0o777)
	makeDir(t, made, 0o700)
	if err := os.Chown(made, 1001, 1001); err != nil {
		t.Fatal(err)
	}
	if err := Share(made, like); !errors.Is(err, unix.EPERM) {
		t.Errorf("%v, want EPERM", err)
	}
	if mode := modeOf(t, made); mode.Perm() != 0o700 {
		t.Errorf("mode %v", mode)
	}
}

func makeDir(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
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
