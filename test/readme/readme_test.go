//go:build unix

// Package readme runs the commands that README and the other pages show.
package readme

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

const root = "../.."

// A block is one fenced block of README: its language and its text.
type block struct{ language, text string }

// pages are the pages with commands for users, README first.
func pages(t *testing.T) []string {
	t.Helper()
	return slices.Concat([]string{"README.md"}, lab.GuidePages(t),
		[]string{"protocol/README.md", "protocol/HELPERS.md", "protocol/EXTRAS.md", "backends/README.md"})
}

// blocks returns the blocks of all pages.
func blocks(t *testing.T) []block {
	t.Helper()
	var all []block
	for _, page := range pages(t) {
		all = append(all, blocksOf(t, page)...)
	}
	return all
}

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	var all []block
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(read(t, page), -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

func read(t *testing.T, page string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestMain(m *testing.M) { lab.Main(m, nil) }

// setUp is the command that runs this test, so this test cannot run it.
const setUp = "test/run\n"

func TestCommands(t *testing.T) {
	bin := filepath.Dir(lab.Program(t, "cmd/locksmith"))
	n := 0
	for _, page := range pages(t) {
		commands := slices.DeleteFunc(blocksOf(t, page), func(b block) bool {
			return b.language != "sh" || b.text == setUp || isExample(t, b)
		})
		n += len(commands)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			for _, b := range commands {
				if !testing.Short() || !b.isLong() {
					b.mustWork(t, bin)
				}
			}
		})
	}
	if n < 10 {
		t.Errorf("only %d blocks of commands found", n)
	}
}

// isLong reports whether a block starts a server, or takes half a minute.
func (b block) isLong() bool {
	return strings.Contains(b.text, "pyftpdlib") || strings.Contains(b.text, "locksmith-check helper")
}

// tmp and port are what blocks name. Each block runs with a directory and a port of its own
// instead.
const tmp, port = "/tmp/", "2121"

func (b block) mustWork(t *testing.T, bin string) {
	t.Helper()
	dir := t.TempDir()
	text := strings.ReplaceAll(b.text, tmp, dir+"/")
	if strings.Contains(text, port) {
		text = strings.ReplaceAll(text, port, strconv.Itoa(lab.ReservePort(t)))
	}
	// If it waits in vain, it is killed with all that it has started. A block has many programs.
	const limit = 5 * lab.Patience
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("it did not end within %v", limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // for processes that it leaves running, which is an error, too
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		_ = cmd.Cancel()
		t.Errorf("a page says\n%swhich fails: %v\n%s", b.text, cmp.Or(context.Cause(ctx), err), out)
	}
}

func TestSetUpCommandIsWhatCIRuns(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil || !strings.Contains(string(raw), "exec "+setUp) {
		t.Errorf(".ci/run does not run %q: %v", setUp, err)
	}
	found := false
	for _, b := range blocks(t) {
		found = found || b.text == setUp
	}
	if !found {
		t.Errorf("README does not give %q", setUp)
	}
}

func examples(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(root + "/test/parents/testdata/*/example.*")
	if err != nil || len(files) < 6 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	files = append(files, root+"/test/parents/testdata/clients/python/example.py")
	texts := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = string(raw)
	}
	return texts
}

func isExample(t *testing.T, b block) bool {
	for _, text := range examples(t) {
		if b.text == text {
			return true
		}
	}
	return false
}

// TestParents: the parents that pages show are those that test/parents runs.
func TestParents(t *testing.T) {
	all := blocks(t)
	for file, text := range examples(t) {
		found := false
		for _, b := range all {
			found = found || b.text == text
		}
		if !found {
			t.Errorf("no page shows %s as it stands", file)
		}
	}
	for _, b := range all {
		switch b.language {
		case "perl", "python", "tcl", "js", "c":
			if !isExample(t, b) {
				t.Errorf("a page shows a parent in %s that is not tested:\n%s", b.language, b.text)
			}
		}
	}
}

func TestGoProgram(t *testing.T) {
	bin := t.TempDir()
	n := 0
	for _, b := range blocks(t) {
		if b.language != "go" {
			continue
		}
		n++
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(b.text), 0o644); err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-o", filepath.Join(bin, "program"), file)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		cmd := exec.Command(filepath.Join(bin, "program"), "local:"+filepath.Join(t.TempDir(), "lock"))
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("working")) {
			t.Errorf("the program fails: %v\n%s", err, out)
		}
	}
	if n != 1 {
		t.Errorf("%d Go programs in the pages, want 1", n)
	}
}

// TestServices: each page of the protocol, and each client in its file or its README, says what systemd
// must be told: else it ends the helper before its parent.
func TestServices(t *testing.T) {
	for _, files := range []string{"protocol/README.md", "protocol/HELPERS.md", "protocol/EXTRAS.md", "client/client.go",
		"client/python/*", "client/node/*", "client/perl/*", "client/tcl/*"} {
		found, err := filepath.Glob(filepath.Join(root, files))
		says := slices.ContainsFunc(found, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && bytes.Contains(text, []byte("KillMode=mixed"))
		})
		if err != nil || !says {
			t.Errorf("%s does not say KillMode=mixed: %v", files, err)
		}
	}
}

// TestDependencyTable: there is a reason for every direct dependency.
func TestDependencyTable(t *testing.T) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{if not .Indirect}}{{.Path}}{{end}}", "all")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	table := read(t, "test/README.md")
	for _, module := range strings.Fields(string(out)) {
		if module != "locksmith" && !strings.Contains(table, "| "+module+" |") {
			t.Errorf("test/README.md has no row for %s", module)
		}
	}
}
