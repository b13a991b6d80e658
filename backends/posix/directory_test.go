//go:build unix

package posix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func mkdirIn(dir, name string) error {
	return OpenParent(dir, name, func(fd int, base string) error { return unix.Mkdirat(fd, base, 0o755) })
}

// TestOpenParent: the directory itself may be reached by a link, but nothing below it.
func TestOpenParent(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(in("locks/a/b"), 0o755), os.Symlink("locks", in("alias")), os.Mkdir(in("victim"), 0o755),
		os.Symlink("../victim", in("locks/planted")), os.Symlink("../../victim", in("locks/a/planted")), os.Symlink("gone", in("locks/dangling"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"x": nil, "a/x": nil, "a/b/x": nil, "a": unix.EEXIST, "planted": unix.EEXIST, "none/x": unix.ENOENT,
		"planted/x": unix.ENOTDIR, "a/planted/x": unix.ENOTDIR, "dangling/x": unix.ENOTDIR,
	} {
		if err := mkdirIn(in("alias"), name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if left, err := os.ReadDir(in("victim")); err != nil || len(left) > 0 {
		t.Errorf("the victim has %v, %v", left, err)
	}
}

// TestOpenParentOnceMore: a directory that was replaced is looked up again, once.
func TestOpenParentOnceMore(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, stale := range []int{1, 2} {
		calls := 0
		err := OpenParent(dir, "a/x", func(int, string) error {
			if calls++; calls <= stale {
				return unix.ESTALE
			}
			return nil
		})
		if calls != 2 || errors.Is(err, unix.ESTALE) != (stale == 2) {
			t.Errorf("stale %d times: %d calls, %v", stale, calls, err)
		}
	}
}

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
	if err := Share(unix.AT_FDCWD, made, like); err != nil {
		t.Fatal(err)
	}
	if mode := modeOf(t, made); mode != os.ModeDir|0o775 {
		t.Errorf("mode %v", mode)
	}
}

// TestShareNew: if something else is in the place of a directory that was just made, it stays
// private.
func TestShareNew(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o775); err != nil {
		t.Fatal(err)
	}
	for mode, share := range map[os.FileMode]func(int, string, string, func(string) bool) error{0o775: ShareNew, 0o770: ShareWithGroup} {
		for name, want := range map[string]os.FileMode{"empty": mode, "used by another of us": mode, "private": 0o700} {
			made := filepath.Join(dir, name+mode.String())
			makeDir(t, made, 0o700)
			entry := map[string]string{"private": "letters", "used by another of us": "part"}[name]
			if entry != "" {
				makeDir(t, filepath.Join(made, entry), 0o700)
			}
			err := share(unix.AT_FDCWD, made, dir, func(entry string) bool { return entry == "part" })
			if got := modeOf(t, made).Perm(); got != want || errors.Is(err, unix.ENOTEMPTY) != (want == 0o700) {
				t.Errorf("%s: mode %v, want %v; %v", name, got, want, err)
			}
		}
	}
}

// TestShareFollowsNoLink: the target of a link stays as it is, and so does anything that is no
// directory.
func TestShareFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	secret, link, file := filepath.Join(dir, "secret"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(secret, 0o700), os.Symlink(secret, link), os.WriteFile(file, nil, 0o600), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{link: unix.ENOTDIR, file: unix.ENOTDIR} {
		if err := Share(unix.AT_FDCWD, path, dir); !errors.Is(err, want) && !errors.Is(err, unix.ELOOP) {
			t.Errorf("Share(%s) gives %v, want %v", path, err, want)
		}
	}
	if a, b := modeOf(t, secret), modeOf(t, file); a.Perm() != 0o700 || b.Perm() != 0o600 {
		t.Errorf("modes %v, %v", a, b)
	}
}

// TestShareAnothers: it does not matter whose directory it is if the users may write already, as
// on an NFS server that takes us for somebody else. Otherwise the system decides.
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
		lab.Lacking(t, "only root can make directories of two users")
	}
	for name, want := range map[string]error{"open": nil, "closed": unix.EPERM} {
		if err := Share(unix.AT_FDCWD, filepath.Join(dir, name), filepath.Join(dir, "like")); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestShareLeavesOthersAlone: root does not open another user's directory.
func TestShareLeavesOthersAlone(t *testing.T) {
	lab.NeedRoot(t)
	dir := t.TempDir()
	like, made := filepath.Join(dir, "like"), filepath.Join(dir, "made")
	makeDir(t, like, 0o777)
	makeDir(t, made, 0o700)
	if err := os.Chown(made, 1001, 1001); err != nil {
		t.Fatal(err)
	}
	if err := Share(unix.AT_FDCWD, made, like); !errors.Is(err, unix.EPERM) {
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
