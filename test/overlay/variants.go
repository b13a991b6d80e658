package overlay

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variable names the variant that a program plays.
const variable = "LOCKSMITH_TEST_VARIANT"

// Play returns the environment setting that makes a program play the variant of an index.
func Play(index int) string { return fmt.Sprintf("%s=%d", variable, index+1) }

// errApart is the error of a variant that cannot share a program with others.
var errApart = errors.New("the variant changes more than bodies of functions, fields of types and imports")

// WriteVariants is Write for many variants of the sources that share one program. The program is
// the unchanged one unless its environment makes it play a variant. Each function that variants
// change contains the bodies of all of them, and begins with a look at which variant is played. A
// variant may also add imports and fields of types; all variants then have these. WriteVariants
// returns the indices of the variants that change more; each of them needs a program of its own,
// by Write.
func WriteVariants(dir string, variants [][]Edit) (list string, apart []int, err error) {
	root, err := Root()
	if err != nil {
		return "", nil, err
	}
	files := map[string]*source{} // by path
	for i, edits := range variants {
		changed, err := apply(root, edits)
		if err != nil {
			return "", nil, err
		}
		if err := join(files, changed, i); errors.Is(err, errApart) {
			apart = append(apart, i)
		} else if err != nil {
			return "", nil, err
		}
	}
	replace := map[string]string{}
	for path, s := range files {
		text := filepath.Join(dir, fmt.Sprint(len(replace), filepath.Base(path)))
		choice := filepath.Join(dir, fmt.Sprint(len(replace), "variant.go"))
		replace[path], replace[filepath.Join(filepath.Dir(path), "zz_variant.go")] = text, choice
		if err := errors.Join(os.WriteFile(text, []byte(s.joined()), 0o600), os.WriteFile(choice, []byte(s.choice()), 0o600)); err != nil {
			return "", nil, err
		}
	}
	list, err = writeList(dir, replace)
	return list, apart, err
}

// join adds a variant to all files that it changes, or, if that fails, to none.
func join(files map[string]*source, changed map[string]string, variant int) error {
	differences := map[*source]difference{}
	for path, text := range changed {
		if files[path] == nil {
			original, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if files[path], err = parse(string(original)); err != nil {
				return err
			}
		}
		d, err := files[path].compare(text)
		if err != nil {
			return err
		}
		differences[files[path]] = d
	}
	for s, d := range differences {
		s.add(d, variant)
	}
	return nil
}

// A source is a file with everything that variants insert in it.
type source struct {
	text    string
	pkg     string
	imports int               // where further imports are inserted
	decls   map[string]piece  // by the name that they declare
	added   map[string]string // further fields and imports, by what they are added to
	bodies  map[string]string // what is inserted at the beginning of a function
}

// A piece is a declaration.
type piece struct {
	text string
	end  int // where it ends in its file
	// For a function: where its body begins in the text, whether it returns something, and whether
	// it has labels, which a function must not have twice.
	body            int
	returns, labels bool
}

// A difference is what a variant changes in a file: bodies of functions, fields of types and
// imports, each by the declaration to which it belongs.
type difference struct{ bodies, added map[string]string }

// toImports is the key under which a difference has its imports.
const toImports = "import "

func parse(text string) (*source, error) {
	s := &source{text: text, decls: map[string]piece{}, added: map[string]string{}, bodies: map[string]string{}}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	// It is the only file of its set, so that its first position is 1.
	at := func(p token.Pos) int { return int(p) - 1 }
	s.pkg, s.imports = f.Name.Name, at(f.Name.End())
	for _, d := range f.Decls {
		name, p := "", piece{text: text[at(d.Pos()):at(d.End())], end: at(d.End())}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				name = text[at(d.Recv.Pos()):at(d.Recv.End())]
			}
			name += d.Name.Name
			p.returns = d.Type.Results != nil
			if d.Body != nil {
				p.body = at(d.Body.Lbrace) + 1 - at(d.Pos())
				p.labels = labelled(d)
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				for _, i := range d.Specs {
					spec := text[at(i.Pos()):at(i.End())]
					s.decls[toImports+spec] = piece{text: spec}
				}
				continue
			}
			name = d.Tok.String() + " " + declared(d)
		}
		s.decls[name] = p
	}
	return s, nil
}

func labelled(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		_, is := n.(*ast.LabeledStmt)
		found = found || is
		return !found
	})
	return found
}

// declared returns the first name that a declaration declares.
func declared(d *ast.GenDecl) string {
	switch spec := d.Specs[0].(type) {
	case *ast.TypeSpec:
		return spec.Name.Name
	case *ast.ValueSpec:
		return spec.Names[0].Name
	}
	return ""
}

// compare returns what a variant of the file changes.
func (s *source) compare(text string) (difference, error) {
	d := difference{map[string]string{}, map[string]string{}}
	changed, err := parse(text)
	if err != nil {
		return d, err
	}
	for name, was := range s.decls {
		now, there := changed.decls[name]
		isImport := strings.HasPrefix(name, toImports)
		switch {
		case now.text == was.text, isImport && !there:
		case !there:
			return d, errApart
		case was.body > 0 && now.head() == was.head() && !now.labels:
			d.bodies[name] = now.text[now.body:]
		case strings.HasPrefix(name, "type "):
			added, further := inserted(was.text, now.text)
			if before := s.added[name]; !further || before != "" && before != added {
				return d, errApart
			}
			d.added[name] = added
		default:
			return d, errApart
		}
	}
	for name, now := range changed.decls {
		if _, there := s.decls[name]; there {
			continue
		}
		if !strings.HasPrefix(name, toImports) {
			return d, errApart
		}
		d.added[name] = now.text
	}
	return d, nil
}

// head returns a function's text without its body.
func (p piece) head() string { return p.text[:p.body] }

// inserted returns the text that turns the type was into now when it is inserted before the
// type's end.
func inserted(was, now string) (string, bool) {
	const end = "}"
	added, longer := strings.CutPrefix(now, strings.TrimSuffix(was, end))
	return strings.TrimSuffix(added, end), longer && strings.HasSuffix(was, end)
}

func (s *source) add(d difference, variant int) {
	for name, body := range d.bodies {
		if !s.decls[name].returns {
			body = strings.TrimSuffix(body, "}") + "\n\treturn\n}"
		}
		s.bodies[name] += fmt.Sprintf("\n\tif zzVariant == %d {%s\n", variant+1, body)
	}
	maps.Copy(s.added, d.added)
}

// joined returns the file's text with all variants.
func (s *source) joined() string {
	insert := map[int]string{}
	for name, bodies := range s.bodies {
		p := s.decls[name]
		insert[p.end-len(p.text)+p.body] = bodies
	}
	for name, text := range s.added {
		if strings.HasPrefix(name, toImports) {
			insert[s.imports] += "\nimport " + text
		} else {
			insert[s.decls[name].end-1] = text
		}
	}
	var b strings.Builder
	from := 0
	for _, at := range slices.Sorted(maps.Keys(insert)) {
		b.WriteString(s.text[from:at] + insert[at])
		from = at
	}
	return b.String() + s.text[from:]
}

// choice is a file more in the package, with which variant is played: none is 0.
func (s *source) choice() string {
	return fmt.Sprintf("package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar zzVariant, _ = strconv.Atoi(os.Getenv(%q))\n", s.pkg, variable)
}
