package mkdirlock

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func aDisk(t *testing.T) *directory {
	t.Helper()
	d := &directory{path: t.TempDir(), private: func() bool { return true }}
	t.Cleanup(d.Close)
	return d
}

// left is a directory that one of us has made and renamed, whose pin is still there.
func left(t *testing.T, d *directory, name string) io.Closer {
	t.Helper()
	mustWork(t, d.Mkdir(t.Context(), "reservation"))
	pin, err := d.Stake(t.Context(), "reservation")
	mustWork(t, err)
	mustWork(t, d.RenameNew(t.Context(), "reservation", name))
	return pin
}

// TestClear: only a directory that is marked, empty and not pinned is removed.
func TestClear(t *testing.T) {
	for about, prepare := range map[string]func(*testing.T, *directory) (want bool){
		"left by one of us": func(t *testing.T, d *directory) bool {
			mustWork(t, left(t, d, "L").Close())
			return true
		},
		"of one who lives": func(t *testing.T, d *directory) bool {
			pin := left(t, d, "L")
			t.Cleanup(func() { _ = pin.Close() })
			return false
		},
		"of one who breaks": func(t *testing.T, d *directory) bool {
			first := left(t, d, "L")
			pin, err := d.Pin(t.Context(), "L")
			mustWork(t, err)
			mustWork(t, first.Close())
			t.Cleanup(func() { _ = pin.Close() })
			return false
		},
		"of a script": func(t *testing.T, d *directory) bool {
			mustWork(t, d.Mkdir(t.Context(), "L"))
			return false
		},
		"of a script that somebody has pinned": func(t *testing.T, d *directory) bool {
			mustWork(t, d.Mkdir(t.Context(), "L"))
			pin, err := d.Pin(t.Context(), "L")
			mustWork(t, err)
			mustWork(t, pin.Close())
			return false
		},
		"with an entry": func(t *testing.T, d *directory) bool {
			mustWork(t, left(t, d, "L").Close())
			mustWork(t, d.Mkdir(t.Context(), "L/x"))
			return false
		},
		"missing": func(*testing.T, *directory) bool { return false },
	} {
		t.Run(name(about), func(t *testing.T) {
			d := aDisk(t)
			want := prepare(t, d)
			before, _ := os.Lstat(d.at("L"))
			err := d.Clear(t.Context(), "L")
			if after, _ := os.Lstat(d.at("L")); (err == nil) != want || (after == nil) != (want || before == nil) {
				t.Errorf("cleared: %v, want %v; there is %v", err, want, after)
			}
			if err != nil && !refused(err) {
				t.Error(err)
			}
			if marked := strings.HasPrefix(about, "of one who") || about == "with an entry"; errors.Is(err, errTended) != marked {
				t.Errorf("%v, though it is marked: %v", err, marked)
			}
		})
	}
}

// TestLeftEmpty: an empty lock of one of us who died is in nobody's way, one of a script is.
func TestLeftEmpty(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	d := &directory{path: dir, private: func() bool { return true }}
	pin := left(t, d, "lock")
	waiter := attemptAt(t, path, plain, "exclusive")
	mustBeHeld(t, waiter)
	mustWork(t, pin.Close())
	mustRelease(t, mustHold(t, waiter))
	mustWork(t, os.Mkdir(path, 0o777))
	mustBeHeld(t, attemptAt(t, path, plain, "exclusive"))
}
