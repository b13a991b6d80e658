// Package packaging tests what cmd/package/build makes: static programs and Debian packages, the
// same from every checkout of a commit. With -long it does so for amd64 and arm64. Without, it
// does so for this machine only, because everything for another machine is compiled anew. With
// -long it also makes a small Debian system and tries the package there, which takes minutes and
// fetches some 50 MB.
package packaging

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// machines returns the machines that packages are made for, in Go's names.
func machines() []string {
	if *long {
		return []string{"amd64", "arm64"} // the script's own choice
	}
	return []string{runtime.GOARCH}
}

// A making is what one run of the build script has made: a directory of files.
type making string

func TestPackages(t *testing.T) {
	lab.NotShort(t, "builds programs three times")
	lab.NeedProgram(t, "git")
	lab.NeedProgram(t, "dpkg-deb")
	repo := commit(t)
	first := build(t, clone(t, repo, "one"))
	// Another place and user. An empty cache, too, would only try the compiler once more.
	elsewhere := []string{"GOFLAGS=-buildvcs=false -ldflags=-w", "GOAMD64=v2", "TZ=Asia/Kathmandu", "LC_ALL=C.UTF-8", "UMASK=077"}
	if *long {
		elsewhere = append(elsewhere, "GOCACHE="+t.TempDir())
	}
	second := build(t, clone(t, repo, "another/place/of the/same"), elsewhere...)

	t.Run("same", func(t *testing.T) { same(t, first, second) })
	t.Run("static", func(t *testing.T) { static(t, first) })
	t.Run("versions", func(t *testing.T) { versions(t, first) })
	t.Run("contents", func(t *testing.T) { contents(t, first) })
	t.Run("pages", func(t *testing.T) { pages(t, first) })
	t.Run("licences", func(t *testing.T) { licences(t, first) })
	t.Run("units", func(t *testing.T) { units(t, first) })
	t.Run("fresh system", func(t *testing.T) { freshSystem(t, first) })
}

// output runs a command, which must succeed, and returns what it prints.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", cmd.Args, err, out, stderr.Bytes())
	}
	return string(out)
}

// commit makes a repository of the files here as they are, with one commit and a tag. If the
// checkout belongs to another user, git does not list its files, and all files are taken.
func commit(t *testing.T) (repo string) {
	repo = t.TempDir()
	cmd := exec.Command("sh", "-ec", `
		{ git ls-files -coz --exclude-standard || find . -name .git -prune -o ! -type d -print0; } | tar --null --ignore-failed-read -T - -c | tar -x -C "$1"
		cd "$1"
		git init -q
		git add -A
		git -c user.name=test -c user.email=test@example.org -c commit.gpgSign=false commit -qm 'as it is'
		git tag v1.2.3-rc.1`, "sh", repo)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z")
	output(t, cmd)
	return repo
}

func clone(t *testing.T, repo, name string) (dir string) {
	dir = filepath.Join(t.TempDir(), name)
	output(t, exec.Command("git", "clone", "-q", repo, dir))
	return dir
}

func build(t *testing.T, checkout string, env ...string) making {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `umask ${UMASK-022} && exec cmd/package/build "$@"`, "sh", dir)
	if !*long {
		cmd.Args = append(cmd.Args, "linux/"+runtime.GOARCH)
	}
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), env...)
	output(t, cmd)
	return making(dir)
}

// file returns the path of the only file whose name matches a pattern.
func (m making) file(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(string(m), pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %q, %v", pattern, files, err)
	}
	return files[0]
}

// sums returns the SHA-256 of each file.
func (m making) sums(t *testing.T) map[string]string {
	entries, err := os.ReadDir(string(m))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(m.file(t, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sums[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return sums
}

// same: the same commit makes the same bytes.
func same(t *testing.T, first, second making) {
	one, two := first.sums(t), second.sums(t)
	var names []string
	for _, machine := range machines() {
		names = append(names, "locksmith-linux-"+machine, "locksmith-remote-linux-"+machine, "locksmith-check-linux-"+machine, "locksmith_1.2.3~rc.1_"+machine+".deb")
	}
	for _, name := range names {
		if one[name] == "" || one[name] != two[name] {
			t.Errorf("%s: SHA-256 %q, elsewhere %q", name, one[name], two[name])
		}
	}
	if len(one) != len(names) || len(two) != len(names) {
		t.Errorf("%d files, elsewhere %d", len(one), len(two))
	}
}

// static: the programs need nothing else to start, and are for the processors that their names
// say.
func static(t *testing.T, m making) {
	of := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for _, name := range machines() {
		for _, program := range []string{"locksmith-linux-" + name, "locksmith-remote-linux-" + name, "locksmith-check-linux-" + name} {
			f, err := elf.Open(m.file(t, program))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine != of[name] {
				t.Errorf("%s is for %v", program, f.Machine)
			}
			for _, p := range f.Progs {
				if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
					t.Errorf("%s has %v", program, p.Type)
				}
			}
		}
	}
}

// versions: program and package say the tag as their version.
func versions(t *testing.T, m making) {
	want := regexp.MustCompile(`^locksmith v1\.2\.3-rc\.1 protocol \d+ go\S+ linux/` + runtime.GOARCH + "\n$")
	program := m.file(t, "locksmith-linux-"+runtime.GOARCH)
	if got := output(t, exec.Command(program, "version")); !want.MatchString(got) {
		t.Errorf("%q", got)
	}
	if got := output(t, exec.Command(program, "version", "--json")); !strings.Contains(got, `"version": "v1.2.3-rc.1"`) {
		t.Errorf("%q", got)
	}
	for _, machine := range machines() {
		fields := output(t, exec.Command("dpkg-deb", "--field", m.file(t, "*_"+machine+".deb")))
		for _, field := range []string{"Package: locksmith\n", "Version: 1.2.3~rc.1\n", "Architecture: " + machine + "\n"} {
			if !strings.Contains(fields, field) {
				t.Errorf("no %q in\n%s", field, fields)
			}
		}
		if strings.Contains(fields, "Depends:") {
			t.Errorf("a static program depends on nothing:\n%s", fields)
		}
	}
}
