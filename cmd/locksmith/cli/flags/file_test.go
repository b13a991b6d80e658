package flags

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSuffix: the lock's name may be one that other tools use.
func TestSuffix(t *testing.T) {
	file := filepath.Join(t.TempDir(), "phones.csv")
	f := File{Path: file, Suffix: ".lck"}
	if lock, err := f.Lock([]string{"link:"}); err != nil || !strings.HasSuffix(lock, "/phones.csv.lck") {
		t.Errorf("--for with a suffix names the lock %q, %v", lock, err)
	}
	f.Path = ""
	if lock, err := f.Lock([]string{"link:/a"}); err == nil {
		t.Errorf("a suffix without --for is accepted: %q", lock)
	}
	if locks, err := f.Locks([]string{"link:/a"}); err == nil {
		t.Errorf("a suffix without --for is accepted: %q", locks)
	}
}

// TestOneLock: a command for one lock refuses none, and several.
func TestOneLock(t *testing.T) {
	for _, args := range [][]string{nil, {"link:/a", "link:/b"}} {
		if lock, err := new(File).Lock(args); err == nil {
			t.Errorf("the arguments %q are accepted, as the lock %q; want an error, for they are not exactly one lock", args, lock)
		}
	}
	if lock, err := new(File).Lock([]string{"link:/a"}); err != nil || lock != "link:/a" {
		t.Errorf("the argument link:/a names the lock %q, with the error %v; want link:/a", lock, err)
	}
}

// TestFor: whatever a name looks like, it is taken for a file's name.
func TestFor(t *testing.T) {
	for _, name := range []string{"8h", "90", "./8h", "8 h", "-8h", "phones.csv"} {
		var f File
		if err := (*fileFlag)(&f).Set(name); err != nil || f.Path != name {
			t.Errorf("--for %s means the file %q, %v", name, f.Path, err)
		}
	}
	f := File{Path: "a"}
	for _, name := range []string{"", "b"} {
		if err := (*fileFlag)(&f).Set(name); err == nil || f.Path != "a" {
			t.Errorf("--for accepts %q", name)
		}
	}
}
