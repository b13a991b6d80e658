//go:build linux

package security

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// A victim is somebody's directory, which no attacker may write to.
type victim struct{ dir string }

func newVictim(t *testing.T) victim {
	t.Helper()
	v := victim{t.TempDir()}
	old := time.Now().Add(-1000 * time.Hour).Truncate(time.Second)
	mustWork(t, os.Mkdir(v.in("dir"), 0o700), os.Mkdir(v.in("empty"), 0o700))
	for _, name := range []string{"file", "dir/file"} {
		mustWork(t, os.WriteFile(v.in(name), []byte("precious\n"), 0o600), os.Chtimes(v.in(name), old, old))
	}
	for _, name := range []string{"dir", "empty", "."} {
		mustWork(t, os.Chtimes(v.in(name), old, old))
	}
	return v
}

func (v victim) in(name string) string { return filepath.Join(v.dir, name) }

// snapshot returns all that must not change: names, modes, owners, times and contents.
func (v victim) snapshot(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	mustWork(t, filepath.WalkDir(v.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		mustWork(t, unix.Lstat(path, &st))
		content := []byte(nil)
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			content, err = os.ReadFile(path)
		}
		fmt.Fprintf(&b, "%s mode %o of %d.%d at %v: %q\n", path, st.Mode, st.Uid, st.Gid, st.Mtim, content)
		return err
	}))
	return b.String()
}

// mustStay makes sure that a deed changes nothing in the victim.
func (v victim) mustStay(t *testing.T, deed func()) {
	t.Helper()
	before := v.snapshot(t)
	deed()
	if after := v.snapshot(t); after != before {
		t.Errorf("the victim had\n%snow\n%s", before, after)
	}
}

// hostileNames are names of directory entries.
var hostileNames = []string{"\x1b[2J\x1b]0;boo\a", "a\nb\rc", "\x9b31m\xff\xfe", "\u0085\u009b31m", "\u202egnp.exe\u2066", "-rf", " ", strings.Repeat("\x01", 255)}

// A plant is something that an attacker puts where we want to make or find something
// of ours.
type plant struct {
	name string
	put  func(v victim, path string) error
}

// plants are those that a kind must not touch. A link of this user's own to nothing is no attack on
// flock:, which makes what it names, as flock(1) does; test/promises has other users' links.
func (k kind) plants() []plant {
	all := append(slices.Clone(simplePlants), plant{"directory", fullDirectory})
	if k.scheme == "flock" {
		all = slices.DeleteFunc(all, func(p plant) bool { return p.name == "dangling link" })
	}
	return all
}

var simplePlants = []plant{
	{"link to a file", func(v victim, p string) error { return os.Symlink(v.in("file"), p) }},
	{"link to a directory", func(v victim, p string) error { return os.Symlink(v.in("dir"), p) }},
	{"link to an empty directory", func(v victim, p string) error { return os.Symlink(v.in("empty"), p) }},
	{"dangling link", func(v victim, p string) error { return os.Symlink(v.in("new"), p) }},
	{"link to itself", func(_ victim, p string) error { return os.Symlink(filepath.Base(p), p) }},
	{"link with escapes", func(_ victim, p string) error { return os.Symlink("\x1b[2J\x9b\u202e\u0085", p) }},
	{"hard link", func(v victim, p string) error { return os.Link(v.in("file"), p) }},
	{"FIFO", func(_ victim, p string) error { return unix.Mkfifo(p, 0o666) }},
	{"socket", func(_ victim, p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o666, 0) }},
	{"device", func(_ victim, p string) error { return unix.Mknod(p, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) }}, // zero, which has no end
	{"terabyte", func(_ victim, p string) error { return sparse(p, "") }},
	{"terabyte of a record", func(_ victim, p string) error { return sparse(p, "1\nLOCK v=1 id=x") }},
	{"empty file", func(_ victim, p string) error { return os.WriteFile(p, nil, 0o666) }},
	{"escapes", func(_ victim, p string) error {
		return os.WriteFile(p, []byte("\x1b[2J\x9b31m\u009b\u202e\n"+strings.Join(hostileNames, "\n")), 0o666)
	}},
	{"closed file", func(_ victim, p string) error { return os.WriteFile(p, []byte("1\n"), 0) }},
	{"empty directory", func(_ victim, p string) error { return os.Mkdir(p, 0o777) }},
}

// sparse makes a file whose size is huge.
func sparse(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		return err
	}
	err := os.Truncate(path, 1<<40)
	if err != nil { // the file system's files must be smaller
		err = os.Truncate(path, 1<<32)
	}
	return err
}

// fullDirectory makes a directory full of hostile names: links, files and directories.
func fullDirectory(v victim, path string) error {
	if err := os.Mkdir(path, 0o777); err != nil {
		return err
	}
	for i, name := range hostileNames {
		if err := simplePlants[[]int{0, 7, 12, 15}[i%4]].put(v, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// at puts the plant at a path, or skips the test if that is not possible.
func (p plant) at(t *testing.T, v victim, path string) {
	t.Helper()
	if err := p.put(v, path); err != nil {
		lab.Lacking(t, fmt.Sprintf("cannot plant a %s: %v", p.name, err))
	}
}
