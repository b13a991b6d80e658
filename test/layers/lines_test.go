package layers

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLines: what is only for tests is under test/, but for clienttest, which is for the tests of
// others. It prints how many lines the rest has.
func TestLines(t *testing.T) {
	const apart = "client/clienttest"
	lines := map[string]int{}
	for path, text := range production(t) {
		part, _, _ := strings.Cut(path, "/")
		if filepath.Dir(path) == apart {
			part = apart
		} else if slices.Contains(imports(t, path), "testing") {
			t.Errorf("%s is for tests: move it to test/, or call it _test.go", path)
		}
		lines[part] += bytes.Count(text, []byte("\n"))
	}
	sum := 0
	for _, part := range []string{"backends", "client", "cmd", "locksmith", "protocol"} {
		if lines[part] == 0 {
			t.Errorf("no lines were found in %s", part)
		}
		t.Logf("%6d %s", lines[part], part)
		sum += lines[part]
	}
	t.Logf("%6d in all, and apart %d of %s, for the tests of others", sum, lines[apart], apart)
}

// production returns the sources outside test/, by their path from the top. Tests are left out.
func production(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	top := os.DirFS(root)
	err := fs.WalkDir(top, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "test" || path == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			found[path], err = fs.ReadFile(top, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func imports(t *testing.T, path string) (all []string) {
	t.Helper()
	for _, spec := range parse(t, filepath.Join(root, path)).Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	return all
}
