package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	contract    = "../../backends/backend"
	kindOfOther = "../../cmd/locksmith/cli/example_with_test.go"
)

// TestOneFileForOutsiders: all of package backend that the author of a kind in another module needs is
// in backend.go. Such an author needs what the example uses, what the conformance suite and the list of
// kinds ask for, and whatever these lead to.
func TestOneFileForOutsiders(t *testing.T) {
	promised, other := exported(t, filepath.Join(contract, "backend.go"))
	if len(promised) < 40 || len(other) < 15 {
		t.Fatalf("backend.go has %d exported names, and the other files have %d", len(promised), len(other))
	}
	var needed []string
	for _, decl := range parse(t, filepath.Join(contract, "backend.go")).Decls {
		needed = append(needed, names(decl, "")...)
	}
	for _, decl := range parse(t, kindOfOther).Decls {
		needed = append(needed, names(decl, "backend")...)
	}
	for _, path := range append(sources(t, "../backendtest"), "../../backends/backends.go") {
		for _, decl := range parse(t, path).Decls {
			needed = append(needed, names(outside(decl), "backend")...)
		}
	}
	for _, name := range needed {
		if slices.Contains(other, name) {
			t.Errorf("the author of a kind in another module needs backend.%s: move it to backend.go", name)
		}
	}
}

// TestOutsidersImports: the page promises every package that the example imports.
func TestOutsidersImports(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## What other programs may import\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, spec := range parse(t, kindOfOther).Imports {
		name, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "locksmith/")
		if ours && !strings.Contains(section, "`"+name+"`") {
			t.Errorf("test/README.md does not promise %s to who writes a kind, and the example imports it", name)
		}
	}
}

// exported returns the exported names that a file of a package declares, and those of the package's
// other files. Methods are no names of their own.
func exported(t *testing.T, file string) (inFile, inOthers []string) {
	t.Helper()
	for _, path := range sources(t, filepath.Dir(file)) {
		all := declared(parse(t, path))
		if path == file {
			inFile = all
		} else {
			inOthers = append(inOthers, all...)
		}
	}
	return inFile, inOthers
}

func declared(file *ast.File) (all []string) {
	add := func(names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() {
				all = append(all, n.Name)
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					add(s.Names...)
				}
			}
		}
	}
	return all
}

// outside returns what other packages see of a declaration.
func outside(decl ast.Decl) ast.Node {
	if f, is := decl.(*ast.FuncDecl); is {
		if !f.Name.IsExported() {
			return &ast.FieldList{}
		}
		return f.Type
	}
	return decl
}

// names returns the names of a package that a piece of code uses: behind the package's name and a dot,
// or if that is empty, standing alone.
func names(code ast.Node, of string) (all []string) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // its name is its own
			all = append(all, names(n.Type, of)...)
			return false
		case *ast.SelectorExpr:
			if x, is := n.X.(*ast.Ident); is && x.Name == of {
				all = append(all, n.Sel.Name)
			}
			return of != "" // what follows a dot is no name of this package
		case *ast.Ident:
			if of == "" {
				all = append(all, n.Name)
			}
		}
		return true
	})
	return all
}

func sources(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestClientAlone: a program that imports the client gets no module of others with it.
func TestClientAlone(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./client", "./client/clienttest")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		if name != "locksmith/protocol" && name != "locksmith/client" && !strings.HasPrefix(name, "locksmith/client/") {
			t.Errorf("package client brings %s along; it is to do with the standard library", name)
		}
	}
}

// TestClientIsSmall: what package client exports can be read at one sitting.
func TestClientIsSmall(t *testing.T) {
	const mostNames, mostMethods = 45, 25
	var exported, methods []string
	for _, path := range sources(t, "../../client") {
		file := parse(t, path)
		exported = append(exported, declared(file)...)
		for _, decl := range file.Decls {
			if f, is := decl.(*ast.FuncDecl); is && f.Recv != nil && f.Name.IsExported() && ast.IsExported(names(f.Recv, "")[0]) {
				methods = append(methods, f.Name.Name)
			}
		}
	}
	if len(exported) > mostNames || len(exported) < 30 {
		t.Errorf("package client exports %d functions, types, constants and variables, want at most %d: %v", len(exported), mostNames, exported)
	}
	if len(methods) > mostMethods || len(methods) < 15 {
		t.Errorf("package client exports %d methods, want at most %d: %v", len(methods), mostMethods, methods)
	}
}
