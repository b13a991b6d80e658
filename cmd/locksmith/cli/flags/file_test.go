package flags

import "testing"

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
