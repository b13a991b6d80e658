package layers

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab"
)

const (
	rightPage = "../explorer/RIGHT.md"
	// mostRight is how many lines of code may have to be right, so that two never hold a lock: 12,000, and those
	// of etcd:, the kind that was added since.
	mostRight = 12_800
)

var update = flag.Bool("update", false, "write the numbers of lines to test/explorer/RIGHT.md anew")

// A rightRow is a row of the page: a file, or a package, and what is said of it.
type rightRow struct{ path, says string }

// rightRows are the rows of a section of the page.
func rightRows(t *testing.T, page, section string) (rows []rightRow) {
	t.Helper()
	_, text, found := strings.Cut(page, "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		if m := regexp.MustCompile("^\\| `([^`]+)` .*\\| ([^|]+) \\|\n$").FindStringSubmatch(line); m != nil {
			rows = append(rows, rightRow{m[1], m[2]})
		}
	}
	if !found || len(rows) == 0 {
		t.Fatalf("%s has no rows in a section %q", rightPage, section)
	}
	return rows
}

const (
	inOrder    = "In the order to read them"
	elsewhere  = "Everything else"
	otherNames = "Other names"
)

// TestRight: the page that names what must be right for "never two holders" has the numbers of lines
// that the files have, and not too many; names all packages, each after those that it stands on.
func TestRight(t *testing.T) {
	text, err := os.ReadFile(rightPage)
	if err != nil {
		t.Fatal(err)
	}
	sources, page := production(t), string(text)
	fresh, lines, code := counted(page, sources)
	t.Logf("%d lines of code must be right, %d with comments and empty lines", code, lines)
	if code > mostRight {
		t.Errorf("%d lines of code must be right, want %d at most", code, mostRight)
	}
	if fresh != page && *update {
		if err := os.WriteFile(rightPage, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if fresh != page {
		t.Errorf("%s has other numbers of lines than the files: go test ./test/layers -run TestRight -update", rightPage)
	}
	first, said, rest := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, row := range rightRows(t, page, inOrder) {
		if sources[row.path] == nil {
			t.Errorf("%s names %s, which is not there", rightPage, row.path)
		}
		delete(sources, row.path)
		if in := path.Dir(row.path); first[in] == 0 {
			first[in] = i + 1
		}
	}
	for _, row := range rightRows(t, page, elsewhere) {
		said[row.path] = true
	}
	for file := range sources {
		rest[path.Dir(file)] = true
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "locksmith/")
		if strings.HasPrefix(name, "test/") {
			continue
		}
		if rest[name] && !said[name] {
			t.Errorf("%s does not say of package %s, or of the rest of it, why it cannot take, keep or remove a lock", rightPage, name)
		}
		for _, imported := range p.Imports {
			if other := first[strings.TrimPrefix(imported, "locksmith/")]; first[name] != 0 && other > first[name] {
				t.Errorf("%s has %s before %s, on which it stands", rightPage, name, imported)
			}
		}
		delete(said, name)
	}
	for name := range said {
		t.Errorf("%s speaks of a package %s, which is not there", rightPage, name)
	}
}

// counted returns the page with the present numbers of lines, and their sums. A line of code is one that
// is neither empty nor a comment alone.
func counted(page string, sources map[string][]byte) (fresh string, lines, code int) {
	fresh = regexp.MustCompile("(?m)^\\| `([^`]+\\.go)` \\| [0-9]+ \\| [0-9]+ \\|").ReplaceAllStringFunc(page, func(row string) string {
		file := strings.Split(row, "`")[1]
		all := bytes.Count(sources[file], []byte("\n"))
		bare := len(regexp.MustCompile(`(?m)^[\t ]*[^\t\n /]|^[\t ]*/[^/]`).FindAll(sources[file], -1))
		lines, code = lines+all, code+bare
		return fmt.Sprintf("| `%s` | %d | %d |", file, bare, all)
	})
	return regexp.MustCompile(`\*\*[0-9,]+ lines of code\*\* \([0-9,]+ with`).ReplaceAllString(fresh,
		fmt.Sprintf("**%s lines of code** (%s with", thousands(code), thousands(lines))), lines, code
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// system are functions of Go's and the system's packages that take a kernel lock, or make, change or
// remove a name.
var system = regexp.MustCompile(`^(os|syscall|golang\.org/x/sys/unix)\.(Link|Linkat|Symlink|Symlinkat|Unlink|Unlinkat|Remove|RemoveAll|` +
	`Rmdir|Mkdir|Mkdirat|MkdirAll|MkdirTemp|Rename|Renameat|Renameat2|Creat|Create|CreateTemp|WriteFile|CopyFS|Open|OpenFile|Openat|Openat2|OpenRoot|OpenInRoot|` +
	`Mknod|Mknodat|Flock|FcntlFlock|Chtimes|Utime|Utimes|UtimesNano|UtimesNanoAt|Futimes|Futimesat|Truncate|Ftruncate|` +
	`Setxattr|Fsetxattr|Lsetxattr|Removexattr|Fremovexattr|Syscall|Syscall6|RawSyscall|RawSyscall6)$|` +
	`^go\.etcd\.io/etcd/client/v3\.(OpPut|OpDelete)$`)

// places are the methods by which locks change the place that they are in: our own interfaces, and the
// libraries.
var places = regexp.MustCompile(`^\((` +
	`locksmith/backends/mkdirlock/dirs\.(Dir|Disk)\)\.(Mkdir|Rmdir|Rename|RenameNew|Stake|Pin|RemoveAbandoned)|` +
	`locksmith/backends/generation/symlinks\.Dir\)\.(Prepare|Mkdir|Rmdir|Rename|Symlink|Unlink|Touch|Keep)|` +
	`locksmith/backends/generation/objects\.Store\)\.(Create|Put|Delete)|` +
	`locksmith/backends/link\.(FS|File)\)\.(Create|Link|Unlink|Touch|SetTime)|` +
	`locksmith/backends/local\.(System|File)\)\.(Create|Queue|Write|TryLock|LockWithin|Unlink|TouchQuietly)|` +
	`\*locksmith/backends/sftp\.session\)\.(request|change)|` +
	`\*github\.com/jlaffaye/ftp\.ServerConn\)\.(MakeDir|RemoveDir|RemoveDirRecur|Rename|Delete|Stor|StorFrom|Append)|` +
	`\*github\.com/aws/aws-sdk-go-v2/service/s3\.Client\)\.((Put|Delete|Copy|Create|Upload|Complete|Rename|Write)\w*)|` +
	`go\.etcd\.io/etcd/client/v3\.\w+\)\.(Put|Delete|Do|Revoke)|` +
	`\*os\.Root\)\.\w+` + `)$`)

// carriers are the files whose functions do nothing but carry a change to a place. To call one is to
// change the place.
var carriers = regexp.MustCompile(`^backends/(lockfile/|posix/|mkdirlock/dirs/|mkdirlock/disk/|nfs/directory|ftp/dir\.|sftp/(request|session|beat|symlinkdir|mkdirdir)\.|s3/store\.)`)

// TestNothingElseChanges: only the files that the page names call what can take, keep or remove a lock.
// The others that make or remove names make other ones, and the page says which.
func TestNothingElseChanges(t *testing.T) {
	lab.NotShort(t, "it reads all libraries")
	text, err := os.ReadFile(rightPage)
	if err != nil {
		t.Fatal(err)
	}
	named, others := map[string]bool{}, map[string]bool{}
	for _, row := range rightRows(t, string(text), inOrder) {
		named[row.path] = true
	}
	for _, row := range rightRows(t, string(text), otherNames) {
		others[row.path] = true
	}
	found := changers(t)
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if !named[file] && !others[file] {
			t.Errorf("%s calls %s, and %s does not name it", file, strings.Join(slices.Sorted(maps.Keys(found[file])), ", "), rightPage)
		}
		delete(others, file)
	}
	for file := range others {
		t.Errorf("%s says which other names %s makes or removes, but it calls nothing that does", rightPage, file)
	}
	for _, sure := range []string{"backends/nfs/directory.go", "backends/ftp/dir.go", "backends/s3/store.go", "backends/mkdirlock/plain.go", "backends/sftp/mkdirdir.go", "backends/etcd/cluster.go", "backends/etcd/attempt.go"} {
		if len(found[sure]) == 0 {
			t.Errorf("nothing was found in %s, where locks are taken: the check sees nothing", sure)
		}
	}
}

// changers returns the files that change what locks are in, with what they call for that.
func changers(t *testing.T) map[string]map[string]bool {
	t.Helper()
	c := checker{
		fset: token.NewFileSet(), goarch: "amd64", known: map[string]*types.Package{"unsafe": types.Unsafe},
		uses: map[*ast.Ident]types.Object{}, defs: map[*ast.Ident]types.Object{},
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packagesFor(t, "linux", "amd64", "./cmd/locksmith", "./cmd/locksmith-remote", "./cmd/locksmith-man", "./client") {
		for _, fault := range c.check(p) {
			t.Fatal(fault)
		}
	}
	carried := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, file := range c.files {
			name, err := filepath.Rel(top, c.fset.File(file.Pos()).Name())
			if err != nil {
				t.Fatal(err)
			}
			if !carriers.MatchString(filepath.ToSlash(name)) {
				continue
			}
			for _, decl := range file.Decls {
				f, is := decl.(*ast.FuncDecl)
				if !is {
					continue
				}
				if name := c.defs[f.Name].(*types.Func).FullName(); !carried[name] && len(c.changes(f, carried)) > 0 {
					carried[name], grown = true, true
				}
			}
		}
	}
	found := map[string]map[string]bool{}
	for _, file := range c.files {
		if calls := c.changes(file, carried); len(calls) > 0 {
			name, err := filepath.Rel(top, c.fset.File(file.Pos()).Name())
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.ToSlash(name)] = calls
		}
	}
	return found
}

// changes returns the functions named in a piece of code that change what locks are in. A call that
// opens something to read it changes nothing.
func (c checker) changes(code ast.Node, carried map[string]bool) map[string]bool {
	found := map[string]bool{}
	reads := map[*ast.Ident]bool{}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called := n.Fun
			if s, is := called.(*ast.SelectorExpr); is {
				called = s.Sel
			}
			if id, is := called.(*ast.Ident); is && strings.HasPrefix(strings.ToLower(id.Name), "open") {
				reads[id] = onlyReads(n)
			}
		case *ast.Ident:
			f, is := c.uses[n].(*types.Func)
			if !is {
				return true
			}
			name := f.Origin().FullName()
			if name != "os.Open" && !reads[n] && (carried[name] || system.MatchString(name) || places.MatchString(name)) {
				found[name] = true
			}
		}
		return true
	})
	return found
}

// onlyReads reports whether the flags of a call say that what it opens is neither made nor written.
func onlyReads(call *ast.CallExpr) bool {
	reads, writes := false, false
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is {
				reads = reads || id.Name == "O_RDONLY" || id.Name == "O_PATH"
				writes = writes || slices.Contains([]string{"O_CREAT", "O_CREATE", "O_WRONLY", "O_RDWR", "O_TRUNC", "O_APPEND"}, id.Name)
			}
			return true
		})
	}
	return reads && !writes
}
