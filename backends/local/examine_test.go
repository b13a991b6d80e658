//go:build unix

package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
	"locksmith/test/backendtest"
)

func examined(t *testing.T, path string) []backend.Check {
	t.Helper()
	var all []backend.Check
	err := openLock(t, path).Examine(t.Context(), backend.Examination{}, func(c backend.Check) {
		if c.Name == "cleaning" {
			return // the tests run below /tmp
		}
		if c.Name == "file system" && strings.Contains(c.Text, "overlay") {
			c.Finding = backend.Fit // the tests run in a container
		}
		all = append(all, c)
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// TestExamine: a good place is found good and left as it was, and so is a lock that somebody
// holds.
func TestExamine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if all := examined(t, path); backend.Verdict(all) != backend.Fit || len(all) != 6 {
		t.Errorf("a good place is not found good in six checks: %+v", all)
	}
	mustBeEmpty(t, dir)
	h, err := attemptAt(t, path, backendtest.Request()).Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all := examined(t, path); backend.Verdict(all) != backend.Fit {
		t.Errorf("held: %+v", all)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Error(err)
	}
	mustBeEmpty(t, dir)
}

// TestExamineFinds: what is wrong with a place is told, with advice.
func TestExamineFinds(t *testing.T) {
	dir := t.TempDir()
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(file, "lock"), filepath.Join(dir, "none/lock"), filepath.Join(open, "lock"), open, "/proc/lock"} {
		all := examined(t, path)
		if backend.Verdict(all) != backend.Unfit {
			t.Errorf("%s is not found unfit: %+v", path, all)
		}
		for _, c := range all {
			if c.Finding != backend.Fit && c.Advice == "" {
				t.Errorf("%s: no advice: %+v", path, c)
			}
		}
	}
}

// TestExamineSeesLocks: a file system is unfit if two may have the same kernel lock, or if it
// counts links wrongly.
func TestExamineSeesLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := lockfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if free, err := other.TryLock(); !free || err != nil {
		t.Fatalf("the kernel lock is free: %v (%v), want true", free, err)
	}
	var all []backend.Check
	x := examiner{doctor.OfFiles("local:"+backend.Name(path), func(c backend.Check) { all = append(all, c) }), path}
	x.kernelLock(f)
	if err := unix.Link(path, path+"2"); err != nil {
		t.Fatal(err)
	}
	x.links(f)
	if len(all) != 2 || all[0].Finding != backend.Unfit || all[1].Finding != backend.Unfit {
		t.Errorf("want two checks that find the place unfit, got %+v", all)
	}
}
