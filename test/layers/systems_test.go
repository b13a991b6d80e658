package layers

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// systems are the systems that the programs are meant for, except the one for which all other
// tests compile them.
var systems = []string{
	"darwin/arm64", "freebsd/amd64", "openbsd/amd64", "netbsd/amd64", "windows/amd64",
	"linux/386", "linux/arm64",
}

// TestSystems: our packages have no error that the compiler would find on another system. Nothing
// is compiled, as that takes a minute for each system: of others' packages only the declarations
// are read. test/systems compiles everything.
func TestSystems(t *testing.T) {
	lab.NotShort(t, "it reads all libraries for each system")
	for _, s := range systems {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			goos, goarch, _ := strings.Cut(s, "/")
			c := checker{fset: token.NewFileSet(), goarch: goarch, known: map[string]*types.Package{"unsafe": types.Unsafe}}
			ours := 0
			for _, p := range packagesFor(t, goos, goarch, "./cmd/locksmith", "./client") {
				for _, fault := range c.check(p) {
					t.Error(fault)
				}
				if p.ours() {
					ours++
				}
			}
			if ours < 30 {
				t.Errorf("only %d packages of ours", ours)
			}
		})
	}
}

// TestSystemsFindErrors: a file for one system is checked for that system, and so are the bodies
// of its functions.
func TestSystemsFindErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nfunc f() int { return 1 << 40 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for goarch, wrong := range map[string]bool{"386": true, "amd64": false} {
		c := checker{fset: token.NewFileSet(), goarch: goarch, known: map[string]*types.Package{}}
		p := source{ImportPath: "locksmith/a", Dir: dir, GoFiles: []string{"a.go"}}
		if faults := c.check(p); (len(faults) > 0) != wrong {
			t.Errorf("for %s a file with a constant of 40 bits has the faults %v, want some: %v", goarch, faults, wrong)
		}
		p.ImportPath = "other/a" // the bodies of others' functions are not read
		if faults := c.check(p); len(faults) > 0 {
			t.Errorf("for %s the body of a function of another module has the faults %v, want that it is not read", goarch, faults)
		}
	}
}

// A source is a package, and its files on one system.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // which packages the imports in its files mean
}

func (p source) ours() bool { return strings.HasPrefix(p.ImportPath, "locksmith/") }

// packagesFor returns packages and everything that they import; a package comes after those that
// it imports.
func packagesFor(t *testing.T, goos, goarch string, patterns ...string) (all []source) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap"}, patterns...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("%v\n%s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p source
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// A checker checks packages one by one, each after those that it imports.
type checker struct {
	fset   *token.FileSet
	goarch string
	known  map[string]*types.Package
	// uses and defs, if not nil, are told what the names in our packages stand for, and files has these
	// packages' files.
	uses, defs map[*ast.Ident]types.Object
	files      []*ast.File
}

func (c *checker) check(p source) (faults []error) {
	if p.ImportPath == "unsafe" {
		return nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer:         importer{c.known, p.ImportMap},
		Sizes:            types.SizesFor("gc", c.goarch),
		IgnoreFuncBodies: !p.ours(),
		Error:            func(err error) { faults = append(faults, err) },
	}
	info := &types.Info{}
	if p.ours() {
		info.Uses, info.Defs, c.files = c.uses, c.defs, append(c.files, files...)
	}
	c.known[p.ImportPath], _ = config.Check(p.ImportPath, c.fset, files, info)
	if !p.ours() {
		return nil // the compiler knows more about its own libraries than we do
	}
	return faults
}

// An importer finds the packages that were checked before.
type importer struct {
	known map[string]*types.Package
	means map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if other, mapped := i.means[path]; mapped {
		path = other
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("it was not listed before")
}
