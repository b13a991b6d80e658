package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/owner"
	"locksmith/backends/process"
)

const name = "0123456789abcdef0123456789abcdef"

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	place := t.TempDir()
	if _, err := loadFrom(place, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	for _, text := range []string{"a\n", "", "something else\n"} {
		must(t, saveIn(place, name, text))
		if got, err := loadFrom(place, name); err != nil || got != text {
			t.Errorf("saved %q, loaded %q, %v", text, got, err)
		}
	}
	for path, want := range map[string]fs.FileMode{"": 0o700 | fs.ModeDir, name: 0o600} {
		st, err := os.Stat(filepath.Join(place, folder, path))
		must(t, err)
		if st.Mode() != want {
			t.Errorf("%q has mode %v", path, st.Mode())
		}
	}
	all, err := os.ReadDir(filepath.Join(place, folder))
	if err != nil || len(all) != 1 {
		t.Errorf("left is %v, %v", all, err)
	}
	must(t, saveIn(filepath.Join(place, "home/.local/state"), name, "x"))
}

// TestForeignFiles: a file that somebody else could have put there does not count. It is neither
// followed nor changed.
func TestForeignFiles(t *testing.T) {
	plants := map[string]func(place, dir, file string) error{
		"a folder that others may use": func(_, dir, _ string) error { return os.Chmod(dir, 0o755) },
		"a folder that is a link":      func(place, dir, _ string) error { return errors.Join(os.Rename(dir, place+"/x"), os.Symlink("x", dir)) },
		"a file in its place":          func(_, dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"a file that others may write": func(_, _, file string) error { return os.Chmod(file, 0o620) },
		"a file that others may read":  func(_, _, file string) error { return os.Chmod(file, 0o604) },
		"a file that is a link": func(place, _, file string) error {
			return errors.Join(os.Rename(file, place+"/x"), os.Symlink("../x", file))
		},
		"a pipe":      func(_, _, file string) error { return errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600)) },
		"a directory": func(_, _, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
	}
	if os.Geteuid() == 0 { // only root can give files away
		plants["a folder of somebody else's"] = func(_, dir, _ string) error { return os.Chown(dir, 12345, -1) }
		plants["a file of somebody else's"] = func(_, _, file string) error { return os.Chown(file, 12345, -1) }
	}
	for what, plant := range plants {
		t.Run(what, func(t *testing.T) {
			place := t.TempDir()
			dir := filepath.Join(place, folder)
			must(t, saveIn(place, name, "ours"))
			must(t, plant(place, dir, filepath.Join(dir, name)))
			if text, err := loadFrom(place, name); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("loaded %q, %v", text, err)
			}
			before, _ := os.ReadFile(place + "/x")
			saved := saveIn(place, name, "again")
			if after, _ := os.ReadFile(place + "/x"); string(after) != string(before) {
				t.Errorf("a link was followed: %q became %q", before, after)
			}
			if text, err := loadFrom(place, name); (saved == nil) != (err == nil && text == "again") {
				t.Errorf("saved with %v, then loaded %q, %v", saved, text, err)
			}
		})
	}
}

// TestTrouble: without a place that can be used there is an error, and nothing else happens.
func TestTrouble(t *testing.T) {
	if err := saveIn("/dev/full", name, "x"); err == nil {
		t.Error("saved below a device")
	}
	place := t.TempDir()
	must(t, os.Mkdir(filepath.Join(place, folder), 0o700), os.Mkdir(filepath.Join(place, folder, name), 0o700))
	if err := saveIn(place, name, "x"); err == nil {
		t.Error("a directory was replaced")
	}
	all, err := os.ReadDir(filepath.Join(place, folder))
	if err != nil || len(all) != 1 {
		t.Errorf("left is %v, %v", all, err)
	}
}

// TestClean: the oldest files go, and files that are not ours stay.
func TestClean(t *testing.T) {
	place := t.TempDir()
	dir := filepath.Join(place, folder)
	must(t, os.Mkdir(dir, 0o700))
	other := filepath.Join(dir, "somebody's")
	must(t, os.WriteFile(other, nil, 0o600))
	for i := range maxFiles + 20 {
		file := filepath.Join(dir, fmt.Sprintf("%032x", i))
		if i%2 == 0 {
			file += "." + owner.NewID() // its writer died
		}
		then := time.Now().Add(time.Duration(i-2*maxFiles) * time.Second)
		must(t, os.WriteFile(file, nil, 0o600), os.Chtimes(file, then, then))
	}
	must(t, saveIn(place, name, "new"))
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != keptFiles+1 {
		t.Errorf("%d are left, %v", len(all), err)
	}
	if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("%032x", maxFiles+19))); err != nil {
		t.Errorf("the youngest went: %v", err)
	}
	if _, err := loadFrom(place, name); err != nil {
		t.Errorf("the new one went: %v", err)
	}
}

// TestPlaces: root ignores the variables of its caller. Other users go by them, if they are
// absolute paths.
func TestPlaces(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/4")
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/alice")
	all := places()
	first := "/run/user/4"
	if os.Geteuid() == 0 {
		first = "/run"
	}
	if len(all) != 2 || all[0] != first || all[1] != "/home/alice/.local/state" {
		t.Errorf("got %v", all)
	}
}

// TestClockOf: a clock has no name if it may be shifted, or cannot be distinguished from others.
func TestClockOf(t *testing.T) {
	here := owner.Place{Host: "h", Machine: "m", Boot: "b", PIDNS: "pid:[1]", TimeNS: process.FirstTimeNS}
	for what, change := range map[string]func(*owner.Place){
		"no boot id":     func(p *owner.Place) { p.Boot = "" },
		"no /proc":       func(p *owner.Place) { p.PIDNS, p.TimeNS = "", "" },
		"a shifted time": func(p *owner.Place) { p.TimeNS = "time:[4026532567]" },
	} {
		p := here
		change(&p)
		if got := clockOf(p); got != "" {
			t.Errorf("%s: the clock is named %q, want no name", what, got)
		}
	}
	old := here
	old.TimeNS = "" // a kernel without time namespaces
	clone := here
	clone.Host = "other"
	if clockOf(old) != clockOf(here) || clockOf(clone) == clockOf(here) {
		t.Error("the names do not tell clocks apart")
	}
}

// TestToken: the greatest token is known later, wherever the session's directory has gone. Few tokens
// are written.
func TestToken(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	const lock = "nfs:/srv/a lock"
	for _, c := range []struct {
		token, before uint64
		keep          bool
	}{
		{1, 0, true}, {2, 0, false}, {2, 0, true}, {1, 2, true}, {3, 2, true}, {1000, 3, true}, {1100, 1000, true}, {1, 1000, true}, {1126, 1000, true}, {2, 1126, true},
		{1<<64 - 1, 1126, true}, {1, 1<<64 - 1, true},
	} {
		before, file, err := Token(lock, c.token, c.keep)
		if err != nil || before != c.before || (before == 0) != (file == "") || before != 0 && filepath.Dir(file) != filepath.Join(home, ".local/state", folder) {
			t.Errorf("token %d: before it was %d in %q, %v; want %d", c.token, before, file, err, c.before)
		}
	}
	if before, _, err := Token("nfs:/srv/another", 1, true); before != 0 || err != nil {
		t.Errorf("of another lock: %d, %v", before, err)
	}
	_, file, _ := Token(lock, 1, false)
	for _, damaged := range []string{"", "x", "-1 " + lock + "\n", "7 nfs:/srv/another\n"} {
		must(t, os.WriteFile(file, []byte(damaged), 0o600))
		if before, _, err := Token(lock, 1, true); before != 0 || err != nil {
			t.Errorf("%q is taken for %d, %v", damaged, before, err)
		}
	}
	must(t, os.Remove(file)) // as the user is told to do
	if before, file, err := Token(lock, 2, true); before != 0 || file != "" || err != nil {
		t.Errorf("after its end: %d, %q, %v", before, file, err)
	}
}
