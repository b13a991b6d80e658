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
		t.Errorf("%q, %v", lock, err)
	}
	f.Path = ""
	if lock, err := f.Lock([]string{"link:/a"}); err == nil {
		t.Errorf("without a file: %q", lock)
	}
	if locks, err := f.Locks([]string{"link:/a"}); err == nil {
		t.Errorf("without a file: %q", locks)
	}
}

// TestFor: whatever it looks like, it is the name of a file.
func TestFor(t *testing.T) {
	for _, name := range []string{"8h", "90", "./8h", "8 h", "-8h", "phones.csv"} {
		var f File
		if err := (*fileFlag)(&f).Set(name); err != nil || f.Path != name {
			t.Errorf("%s: file %q, %v", name, f.Path, err)
		}
	}
	f := File{Path: "a"}
	for _, name := range []string{"", "b"} {
		if err := (*fileFlag)(&f).Set(name); err == nil || f.Path != "a" {
			t.Errorf("%q is taken", name)
		}
	}
}
