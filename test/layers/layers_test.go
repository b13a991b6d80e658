// Package layers enforces which package may import which.
package layers

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab"
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

// allowed lists, for each package, the packages of this module that it may import outside its
// tests. A name that ends in "/..." stands for all packages below it.
var allowed = map[string][]string{
	"protocol":                   {},
	"client":                     {"protocol", "client/internal/faking"},
	"locksmith":                  {"protocol", "backends/backend", "backends/shelf", "backends/owner", "backends/clock", "backends/backoff", "backends/process", "locksmith/events", "backends/detached"},
	"locksmith/child":            {"protocol", "locksmith", "backends/backend", "backends/owner", "backends/clock", "backends/process"},
	"locksmith/events":           {"protocol"},
	"backends":                   {"backends/..."},
	"backends/clock":             {},
	"backends/process":           {},
	"backends/flocks":            {"backends/process"},
	"backends/doctor":            {"protocol", "backends/backend", "backends/lockfile", "backends/clock", "backends/posix", "backends/detached"},
	"backends/posix":             {"backends/clock", "backends/process"},
	"backends/lockfile":          {"protocol", "backends/shelf", "backends/backend", "backends/owner", "backends/process", "backends/posix"},
	"backends/finder":            {"protocol", "backends/backend", "backends/shelf", "backends/lockfile", "backends/posix"},
	"backends/backoff":           {},
	"backends/owner":             {"protocol", "backends/process", "backends/clock"},
	"backends/backend":           {"protocol", "backends/owner", "backends/clock", "backends/backoff"},
	"backends/mkdirlock":         {"protocol", "backends/backend", "backends/owner", "backends/watch", "backends/shelf", "backends/clock", "backends/process", "backends/posix", "backends/doctor", "backends/backoff", "backends/finder", "backends/mkdirlock/...", "backends/tokens"},
	"backends/mkdirlock/dirs":    {"protocol", "backends/backend", "backends/process"},
	"backends/mkdirlock/labels":  {"protocol", "backends/backend", "backends/owner", "backends/shelf", "backends/mkdirlock/dirs", "backends/tokens"},
	"backends/mkdirlock/disk":    {"backends/backend", "backends/doctor", "backends/posix", "backends/process", "backends/mkdirlock/dirs", "backends/mkdirlock/labels"},
	"backends/mkdirlock/examine": {"backends/backend", "backends/clock", "backends/doctor", "backends/owner", "backends/mkdirlock/dirs", "backends/mkdirlock/labels"},
	"backends/mkdirlock/reap":    {"protocol", "backends/backend", "backends/clock", "backends/condition", "backends/owner", "backends/watch", "backends/mkdirlock/dirs", "backends/mkdirlock/labels"},
	"backends/ftp":               {"protocol", "backends/backend", "backends/clock", "backends/owner", "backends/process", "backends/mkdirlock", "backends/mkdirlock/dirs", "backends/servers"},
	"backends/sftp":              {"protocol", "backends/backend", "backends/shelf", "backends/clock", "backends/owner", "backends/process", "backends/posix", "backends/doctor", "backends/finder", "backends/mkdirlock", "backends/mkdirlock/dirs", "backends/generation/symlinks", "backends/servers"},
	"backends/link":              {"protocol", "backends/backend", "backends/watch", "backends/lockfile", "backends/owner", "backends/clock", "backends/process", "backends/posix", "backends/doctor", "backends/backoff", "backends/finder"},
	"backends/local":             {"protocol", "backends/backend", "backends/watch", "backends/shelf", "backends/lockfile", "backends/flocks", "backends/owner", "backends/clock", "backends/process", "backends/posix", "backends/doctor", "backends/backoff", "backends/finder"},
	"backends/flock":             {"protocol", "backends/backend", "backends/watch", "backends/shelf", "backends/lockfile", "backends/flocks", "backends/owner", "backends/clock", "backends/process", "backends/posix", "backends/doctor", "backends/backoff", "backends/finder", "backends/detached"},
	"backends/nfs":               {"protocol", "backends/backend", "backends/owner", "backends/clock", "backends/process", "backends/generation/symlinks", "backends/posix", "backends/doctor", "backends/finder"},
	"backends/etcd":              {"protocol", "backends/backend", "backends/clock", "backends/doctor", "backends/finder", "backends/owner", "backends/servers", "backends/shelf", "backends/watch"},
	"backends/s3":                {"protocol", "backends/backend", "backends/backoff", "backends/clock", "backends/doctor", "backends/finder", "backends/owner", "backends/process", "backends/generation/objects"},
	"backends/detached":          {"backends/backend", "backends/clock"},
	"backends/servers":           {"protocol", "backends/backend", "backends/backoff", "backends/clock"},
	"backends/member":            {"protocol", "backends/backend", "backends/shelf", "backends/owner", "backends/clock", "backends/detached"},
	"backends/set":               {"protocol", "backends/backend", "backends/owner", "backends/clock", "backends/detached", "backends/member"},
	"backends/choice":            {"protocol", "backends/backend", "backends/owner", "backends/clock", "backends/detached", "backends/member"},
	"backends/shelf":             {"protocol", "backends/backend", "backends/owner", "backends/watch"},
	"backends/tokens":            {},
	"backends/condition":         {"backends/backend", "backends/owner"},
	"backends/watch":             {"backends/backend", "backends/clock", "backends/owner"},
	"client/clienttest":          {"protocol", "client", "client/internal/faking"},
	"client/internal/faking":     {},

	"backends/generation":          {"backends/backend", "backends/backoff", "backends/clock", "backends/owner", "backends/shelf", "backends/watch", "backends/tokens"},
	"backends/generation/objects":  {"backends/generation", "protocol", "backends/backend", "backends/backoff", "backends/clock", "backends/owner", "backends/watch", "backends/shelf", "backends/tokens"},
	"backends/generation/symlinks": {"backends/generation", "protocol", "backends/backend", "backends/owner", "backends/watch", "backends/shelf", "backends/clock", "backends/process", "backends/posix", "backends/backoff", "backends/doctor", "backends/finder", "backends/tokens"},

	"cmd/locksmith":              {"cmd/locksmith/cli", "cmd/locksmith/singleproc"},
	"cmd/locksmith-remote":       {"backends", "backends/etcd", "backends/s3", "cmd/locksmith/cli", "cmd/locksmith/singleproc"},
	"cmd/locksmith-check":        {"test/helpers"},
	"cmd/locksmith-man":          {"cmd/locksmith/cli"},
	"cmd/locksmith/cli":          {"protocol", "locksmith", "locksmith/child", "locksmith/events", "backends", "backends/backend", "backends/clock", "backends/condition", "backends/finder", "backends/owner", "backends/process", "backends/shelf", "cmd/locksmith/cli/...", "cmd/locksmith/memory", "cmd/locksmith/profile", "cmd/locksmith/timeline", "backends/detached"},
	"cmd/locksmith/cli/advice":   {"backends/backend", "backends/condition", "backends/owner", "backends/process", "cmd/locksmith/cli/programs", "cmd/locksmith/cli/request", "cmd/locksmith/cli/show"},
	"cmd/locksmith/cli/flags":    {"protocol", "client", "locksmith", "locksmith/events", "backends", "backends/backend", "backends/backoff", "cmd/locksmith/profile"},
	"cmd/locksmith/cli/request":  {"protocol", "locksmith", "backends", "backends/backend", "backends/shelf", "backends/clock", "backends/backoff", "backends/owner", "backends/process", "backends/choice", "backends/member", "backends/set", "cmd/locksmith/cli/flags", "cmd/locksmith/cli/term", "cmd/locksmith/cli/programs", "cmd/locksmith/memory", "cmd/locksmith/profile"},
	"cmd/locksmith/cli/start":    {"protocol", "backends/backend", "cmd/locksmith/cli/programs"},
	"cmd/locksmith/cli/where":    {"backends/backend", "backends/condition", "backends/owner", "cmd/locksmith/cli/show", "cmd/locksmith/profile"},
	"cmd/locksmith/cli/show":     {"protocol", "backends/backend", "backends/condition", "cmd/locksmith/cli/term"},
	"cmd/locksmith/cli/term":     {"protocol"},
	"cmd/locksmith/cli/programs": {"protocol", "backends/process"},
	"cmd/locksmith/memory":       {"backends/backend", "backends/clock", "backends/owner", "backends/posix", "backends/process", "backends/watch", "backends/detached"},
	"cmd/locksmith/profile":      {"protocol", "backends/backend", "backends/backoff", "backends/owner"},
	"cmd/locksmith/singleproc":   {},
	"cmd/locksmith/timeline":     {"cmd/locksmith/timeline/svg", "locksmith/events"},
	"cmd/locksmith/timeline/svg": {"protocol"},
}

func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "locksmith/")
		if strings.HasPrefix(name, "test/") {
			continue
		}
		seen[name] = true
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s has no layer: add it to the table", name)
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, "locksmith/")
			if isOurs && !permits(may, ours) {
				t.Errorf("%s must not import %s", name, ours)
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("package %s is in the table but not in the module", name)
		}
	}
}

// general lists packages that only the command line imports, and why they are no part of it all
// the same.
var general = map[string]string{
	"backends/choice": "any of several locks, which knows nothing of commands",
	"backends/set":    "several locks at once, which know nothing of commands",
}

// TestBelow: a package that only the command line imports lives below the command line, unless
// general says why not.
func TestBelow(t *testing.T) {
	const commands = "cmd/locksmith"
	importers := map[string][]string{}
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			name := strings.TrimPrefix(p.ImportPath, "locksmith/")
			if ours, isOurs := strings.CutPrefix(imported, "locksmith/"); isOurs && !strings.HasPrefix(name, "test/") {
				importers[ours] = append(importers[ours], name)
			}
		}
	}
	for name, by := range importers {
		shared := slices.ContainsFunc(by, func(importer string) bool { return !isBelow(importer, commands) })
		if !shared && !isBelow(name, commands) && !strings.HasPrefix(name, "locksmith/") && general[name] == "" {
			t.Errorf("only the command line imports %s: move it below %s", name, commands)
		} else if shared && general[name] != "" {
			t.Errorf("others than the command line import %s: it needs no exception", name)
		}
	}
}

func isBelow(name, top string) bool { return name == top || strings.HasPrefix(name, top+"/") }

func permits(may []string, imported string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		below, all := strings.CutSuffix(m, "...")
		return m == imported || all && strings.HasPrefix(imported, below)
	})
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	var all []listed
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestNoInit: importing a package of ours does nothing, but for the one that only our
// program may import.
func TestNoInit(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", "--include=*.go", "--exclude-dir=singleproc",
		`^func init\(\)|^\s*var _ *= *[[:alnum:]_.]+\(`, "../..").CombinedOutput()
	if err == nil {
		t.Errorf("packages with effects:\n%s", out)
	}
}

// TestNothingByName: if a library finds methods by name, as text/template does, the linker keeps
// every exported method. They are a fifth of the program, and each helper pays for them.
func TestNothingByName(t *testing.T) {
	program := lab.Program(t, "cmd/locksmith")
	symbols, err := exec.Command("go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(symbols)
	if !strings.Contains(text, " main.main\n") {
		t.Fatal("these are no symbols of the program")
	}
	if strings.Contains(text, "reflect.Value.MethodByName") {
		t.Error("something uses methods by name; cobra's templates for help and versions do")
	}
}
