package overlay

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// errElsewhere is the error of a file that has nothing of what an edit is about.
var errElsewhere = errors.New("no such function, type or mark")

// apply returns the path and the new text of the one file of the package that the edit is about.
// changed has the texts of files that other edits have changed before.
func (e Edit) apply(root string, changed map[string]string) (path, text string, err error) {
	files, err := filepath.Glob(filepath.Join(root, e.Package, "*.go"))
	if err != nil {
		return "", "", err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		now, err := e.change(file, changed)
		switch {
		case errors.Is(err, errElsewhere):
			continue
		case err != nil:
			return "", "", err
		case path != "":
			return "", "", fmt.Errorf("it is in %s and in %s", path, file)
		}
		path, text = file, now
	}
	if path == "" {
		return "", "", errElsewhere
	}
	return path, text, nil
}

func (e Edit) change(path string, changed map[string]string) (string, error) {
	text, there := changed[path]
	if !there {
		original, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		text = string(original)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", err
	}
	if e.In == strings.TrimSpace(toImports) {
		return e.addImport(f, text)
	}
	if name, isType := strings.CutPrefix(e.In, "type "); isType {
		return e.addField(f, text, name)
	}
	for _, d := range f.Decls {
		if d, is := d.(*ast.FuncDecl); is && functionName(d) == e.In {
			return e.replace(f, text, d)
		}
	}
	return "", errElsewhere
}

// It is the only file of its set, so that its first position is 1.
func offset(p token.Pos) int { return int(p) - 1 }

// addImport adds an import to the file that has the function Mark.
func (e Edit) addImport(f *ast.File, text string) (string, error) {
	for _, d := range f.Decls {
		if d, is := d.(*ast.FuncDecl); is && functionName(d) == e.Mark {
			at := offset(f.Name.End())
			return text[:at] + "\n\nimport " + e.New + text[at:], nil
		}
	}
	return "", errElsewhere
}

func (e Edit) addField(f *ast.File, text, name string) (string, error) {
	at := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, is := n.(*ast.TypeSpec); is && spec.Name.Name == name {
			if fields, is := spec.Type.(*ast.StructType); is {
				at = offset(fields.Fields.Closing)
			}
		}
		return at == 0
	})
	if at == 0 {
		return "", errElsewhere
	}
	return text[:at] + "\t" + e.New + "\n" + text[at:], nil
}

// functionName is "Lock.remove" for a method of Lock or *Lock.
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + d.Name.Name
		default:
			return ""
		}
	}
}

func (e Edit) replace(f *ast.File, text string, in *ast.FuncDecl) (string, error) {
	mark, err := e.mark(f, in)
	if err != nil {
		return "", err
	}
	s := statementAfter(in, mark.End())
	if s == nil {
		return "", errors.New("no statement comes after the mark")
	}
	from, to := offset(s.Pos()), offset(s.End())
	body := ""
	if b, e := bodyOf(s); b.IsValid() {
		body = text[offset(b):offset(e)]
	}
	now := strings.NewReplacer("$old", text[from:to], "$body", body).Replace(e.New)
	return text[:from] + now + text[to:], nil
}

// mark finds the comment in the function.
func (e Edit) mark(f *ast.File, in *ast.FuncDecl) (found *ast.Comment, err error) {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if c.Pos() < in.Pos() || c.End() > in.End() || c.Text != "//rule:"+e.Mark {
				continue
			}
			if found != nil {
				return nil, errors.New("the function has the mark twice")
			}
			found = c
		}
	}
	if found == nil {
		return nil, errElsewhere
	}
	return found, nil
}

// statementAfter finds the first and outermost statement, or clause, that begins after a mark.
func statementAfter(in *ast.FuncDecl, mark token.Pos) (found ast.Stmt) {
	ast.Inspect(in.Body, func(n ast.Node) bool {
		s, is := n.(ast.Stmt)
		if _, block := n.(*ast.BlockStmt); is && !block && s.Pos() >= mark && (found == nil || s.Pos() < found.Pos()) {
			found = s
		}
		return true
	})
	return found
}

// bodyOf returns where the body of a statement that has one begins and ends, without its braces.
func bodyOf(s ast.Stmt) (from, to token.Pos) {
	var b *ast.BlockStmt
	switch s := s.(type) {
	case *ast.IfStmt:
		b = s.Body
	case *ast.ForStmt:
		b = s.Body
	case *ast.RangeStmt:
		b = s.Body
	case *ast.SwitchStmt:
		b = s.Body
	case *ast.CaseClause:
		return s.Colon + 1, s.End()
	case *ast.CommClause:
		return s.Colon + 1, s.End()
	}
	if b == nil {
		return token.NoPos, token.NoPos
	}
	return b.Lbrace + 1, b.Rbrace
}
