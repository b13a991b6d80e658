package overlay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const marked = `package p

import "errors"

type box[T any] struct {
	size int
}

func (b *box[T]) grow(n int) error {
	//rule:positive
	if n < 0 {
		return errors.New("negative")
	}
	switch {
	//rule:most
	case n > 10: // too much
		b.size = 10
	default:
		b.size += n
	}
	return nil
}

func grow() {
	//rule:twice
	println(1)
	//rule:twice
	println(2)
	//rule:last
}
`

// TestEdits: the statement after the mark is changed, and nothing else.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		edit     Edit
		old, new string
	}{
		{Edit{In: "box.grow", Mark: "positive"}, "if n < 0 {\n\t\treturn errors.New(\"negative\")\n\t}", ""},
		{Edit{In: "box.grow", Mark: "positive", New: "if n < 1 {$body}"}, "n < 0", "n < 1"},
		{Edit{In: "box.grow", Mark: "positive", New: "n++\n\t$old"}, "if n < 0", "n++\n\tif n < 0"},
		{Edit{In: "box.grow", Mark: "most", New: "case n > 20:$body"}, "n > 10", "n > 20"},
		{Edit{In: "type box", New: "last int"}, "	size int\n", "	size int\n	last int\n"},
		{Edit{In: "import", Mark: "grow", New: `"os"`}, "package p", "package p\n\nimport \"os\""},
	} {
		now, err := write(t, marked, c.edit)
		if want := strings.Replace(marked, c.old, c.new, 1); err != nil || now != want {
			t.Errorf("%+v: %v\n%s\nwant\n%s", c.edit, err, now, want)
		}
	}
}

// TestLineOfNoRule: what has no mark may be written anew, and every edit still applies.
func TestLineOfNoRule(t *testing.T) {
	other := strings.NewReplacer("b.size += n", "b.size = b.size + n", "negative", "below zero").Replace(marked)
	now, err := write(t, other, Edit{In: "box.grow", Mark: "positive", New: "if n < 1 {$body}"})
	if err != nil || now != strings.Replace(other, "n < 0", "n < 1", 1) {
		t.Errorf("%v\n%s", err, now)
	}
}

// TestDoesNotApply: what is not there, or not once, is an error.
func TestDoesNotApply(t *testing.T) {
	for _, e := range []Edit{
		{In: "box.grow", Mark: "other"},
		{In: "shrink", Mark: "positive"},
		{In: "grow", Mark: "positive"}, // which another function has
		{In: "grow", Mark: "twice"},
		{In: "grow", Mark: "last"},
		{In: "type bag", New: "last int"},
	} {
		if now, err := write(t, marked, e); err == nil {
			t.Errorf("%+v applies:\n%s", e, now)
		}
	}
}

// write returns what an edit makes of a package of one file.
func write(t *testing.T, text string, e Edit) (string, error) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p.go")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, err := apply(dir, []Edit{e})
	return changed[path], err
}
