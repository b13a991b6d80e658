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
