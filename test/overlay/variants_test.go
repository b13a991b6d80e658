package overlay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const original = `package p

import "strings"

type box struct {
	size int
}

const most = 2

// Grow says how large it is then.
func (b *box) Grow(n int) int {
	b.size += n
	return b.size
}

func shout(text string) { println(strings.ToUpper(text)) }
`

const joined = `package p
import "slices"

import "strings"

type box struct {
	size int
	last int
}

const most = 2

// Grow says how large it is then.
func (b *box) Grow(n int) int {
	if zzVariant == 1 {
	b.size = n
	return b.size
}

	if zzVariant == 2 {
	b.last = n
	b.size += slices.Max([]int{n, most})
	return b.size
}

	b.size += n
	return b.size
}

func shout(text string) {
	if zzVariant == 2 { println(text) 
	return
}
 println(strings.ToUpper(text)) }
`

// TestVariants: a function's body has each of its variants; a variant that cannot share the
// program is not in it.
func TestVariants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(path, []byte(original), 0o600); err != nil {
		t.Fatal(err)
	}
	files := map[string]*source{}
	for i, replaced := range [][]string{
		{"b.size += n", "b.size = n"},
		{"b.size += n", "b.last = n\n	b.size += slices.Max([]int{n, most})",
			"	size int\n", "	size int\n	last int\n",
			"import \"strings\"", "import (\n	\"strings\"\n	\"slices\"\n)",
			"strings.ToUpper(text)", "text"},
		{"most = 2", "most = 3"},
		{"size int", "size int64"},
		{"Grow(n int)", "Grow(m, n int)"},
		{"	b.size += n\n", "again:\n	if b.size += n; b.size < 0 {\n		goto again\n	}\n"},
		{"func shout", "func more() {}\n\nfunc shout"},
		{"	size int\n", "	size int\n	first int\n"}, // where another variant has one more field
	} {
		text := strings.NewReplacer(replaced...).Replace(original)
		if err := join(files, map[string]string{path: text}, i); errors.Is(err, errApart) != (i > 1) || err != nil && i <= 1 {
			t.Errorf("variant %d: %v", i, err)
		}
	}
	if got := files[path].joined(); got != joined {
		t.Errorf("got\n%s\nwant\n%s", got, joined)
	}
	if _, err := parse(files[path].joined()); err != nil {
		t.Error(err)
	}
}
