//go:build unix

package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"locksmith/test/lab"
)

// TestDirectoryForAll: where everybody may rename files, no file is ours for sure.
func TestDirectoryForAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, 0o644, canary)
	for mode, says := range map[os.FileMode]string{0o777: "chmod o-w", 0o755: "", 0o777 | os.ModeSticky: ""} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := unwritable.read(path, "read it")
		if says != "" {
			mustRefuse(t, err, path, "read it", says)
		} else if err != nil {
			t.Errorf("in a directory of mode %v a file is refused: %v", mode, err)
		}
	}
}

func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		guard guard
		mode  os.FileMode
		says  string // empty: the file is fit
	}{
		{unwritable, 0o644, ""}, {unwritable, 0o400, ""},
		{unwritable, 0o664, "chmod go-w"}, {unwritable, 0o602, "chmod go-w"},
		{private, 0o600, ""}, {private, 0o400, ""},
		{private, 0o640, "chmod 600"}, {private, 0o604, "(mode 0604)"}, {private, 0o620, "chmod 600"}, {private, 0o601, "chmod 600"},
	} {
		write(t, path, c.mode, canary)
		text, err := c.guard.read(path, "read it")
		switch {
		case c.says != "":
			mustRefuse(t, err, path, "read it", c.says)
		case err != nil || string(text) != canary:
			t.Errorf("a file of mode %04o is read as %q (%v)", c.mode, text, err)
		}
	}
}

func TestUnfitFiles(t *testing.T) {
	dir := t.TempDir()
	fifo, large := filepath.Join(dir, "fifo"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, large, 0o600, strings.Repeat("x", maxSize+1))
	write(t, filepath.Join(dir, "file"), 0o600, "")
	for path, says := range map[string]string{
		fifo:                            "not a regular file",
		dir:                             "not a regular file",
		"/dev/zero":                     "not a regular file",
		"/proc/self/limits":             "", // its size is 0 until it is read
		large:                           "larger than 65536 bytes",
		filepath.Join(dir, "none"):      "no such file",
		filepath.Join(dir, "file", "x"): "not a directory",
	} {
		_, err := unwritable.read(path, "read it")
		if says != "" {
			mustRefuse(t, err, path, says)
		} else if err != nil {
			t.Errorf("%s is refused: %v", path, err)
		}
	}
}

func TestOwner(t *testing.T) {
	lab.NeedRoot(t)
	path := write(t, filepath.Join(t.TempDir(), "f"), 0o600, canary)
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	_, err := private.read(path, "read it")
	mustRefuse(t, err, "belongs to user 65534")
}

// TestFileThatIsWritable: others could have chosen the lock's place, or the server that gets the
// password.
func TestFileThatIsWritable(t *testing.T) {
	e := home(t, nil)
	write(t, e.Files[0], 0o666, "[p]\nlock = \"local:/x\"\n")
	_, err := e.Resolve("p")
	mustRefuse(t, err, e.Files[0], "others may write it", "chmod go-w")
}

func TestAbsentIsTold(t *testing.T) {
	_, err := private.read(filepath.Join(t.TempDir(), "none"), "read it")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
