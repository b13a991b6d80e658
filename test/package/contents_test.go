package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"locksmith/cmd/locksmith/cli"
	"locksmith/test/lab"
)

// unpack unpacks the package for this machine.
func unpack(t *testing.T, m making) (root string) {
	root = t.TempDir()
	output(t, exec.Command("dpkg-deb", "--extract", m.file(t, "*_"+runtime.GOARCH+".deb"), root))
	return root
}

// contents: the package has the program, and all its files are where Debian's tools look for
// them.
func contents(t *testing.T, m making) {
	for line := range strings.Lines(output(t, exec.Command("sh", "-c", `TZ=UTC dpkg-deb --contents "$1"`, "sh", m.file(t, "*_"+runtime.GOARCH+".deb")))) {
		mode := strings.Fields(line)[0]
		if !strings.Contains(line, " root/root ") || !strings.Contains(line, " 2026-01-02 03:04 ") ||
			mode != "drwxr-xr-x" && mode != "-rw-r--r--" && !regexp.MustCompile(` \./usr/bin/locksmith(-remote|-check)?\n$`).MatchString(line) {
			t.Errorf("odd: %s", line)
		}
	}
	root := unpack(t, m)
	for _, program := range []string{"locksmith", "locksmith-remote", "locksmith-check"} {
		one, errOne := os.ReadFile(m.file(t, program+"-linux-"+runtime.GOARCH))
		two, errTwo := os.ReadFile(filepath.Join(root, "usr/bin", program))
		if errOne != nil || errTwo != nil || !bytes.Equal(one, two) {
			t.Errorf("the package has another %s (%v, %v)", program, errOne, errTwo)
		}
	}
	want := []string{
		"bash-completion/completions/locksmith", "zsh/vendor-completions/_locksmith", "fish/vendor_completions.d/locksmith.fish",
		"doc/locksmith/README.md", "doc/locksmith/cmd/locksmith/README.md", // the links of these pages work here, too
		"doc/locksmith/protocol/README.md", "doc/locksmith/protocol/HELPERS.md", "doc/locksmith/backends/README.md", "doc/locksmith/examples/example.pl",
		"doc/locksmith/examples/nightly.service", "doc/locksmith/examples/nightly.timer",
		"man/man1/locksmith.1.gz",
		"../lib/python3/dist-packages/locksmith.py", "perl5/Locksmith.pm", // where the languages look
		"nodejs/locksmith/locksmith.mjs", "nodejs/locksmith/locksmith.d.mts", "nodejs/locksmith/package.json",
		"tcltk/locksmith/locksmith.tcl", "tcltk/locksmith/pkgIndex.tcl",
	}
	for _, page := range lab.GuidePages(t)[1:] {
		want = append(want, "doc/locksmith/"+page, "man/man7/locksmith-"+strings.TrimSuffix(filepath.Base(page), ".md")+".7.gz")
	}
	for _, c := range cli.Commands().Commands() {
		if !c.Hidden {
			want = append(want, "man/man1/locksmith-"+c.Name()+".1.gz")
		}
	}
	for _, file := range want {
		if st, err := os.Stat(filepath.Join(root, "usr/share", file)); err != nil || st.Size() == 0 {
			t.Errorf("%s is missing or empty: %v", file, err)
		}
	}
}

// pages: whatever a page of the package links to is in the package.
func pages(t *testing.T, m making) {
	doc := filepath.Join(unpack(t, m), "usr/share/doc/locksmith")
	n := 0
	err := filepath.WalkDir(doc, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := os.ReadFile(path)
		for _, link := range links.FindAllSubmatch(page, -1) {
			file, _, _ := strings.Cut(string(link[1]), "#")
			if file == "" || strings.Contains(file, ":") {
				continue // it leads into the page itself, or to the web
			}
			n++
			if st, err := os.Stat(filepath.Join(filepath.Dir(path), file)); err != nil || !st.Mode().IsRegular() {
				t.Errorf("%s leads to %s, which is not there", strings.TrimPrefix(path, doc), file)
			}
		}
		return err
	})
	if err != nil || n < 30 {
		t.Errorf("%d links, %v", n, err)
	}
}

var links = regexp.MustCompile(`\[[^][]*\]\(([^()]*)\)`)

// licences: the package names its own licence, and has the licences of the modules in its
// programs.
func licences(t *testing.T, m making) {
	text, err := os.ReadFile(filepath.Join(unpack(t, m), "usr/share/doc/locksmith/copyright"))
	if err != nil || !bytes.Contains(text, []byte("no licence has been chosen yet")) {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, program := range []string{"locksmith", "locksmith-remote", "locksmith-check"} {
		made := output(t, exec.Command("go", "version", "-m", m.file(t, program+"-linux-"+runtime.GOARCH)))
		for line := range strings.Lines(made) {
			if f := strings.Fields(line); f[0] == "dep" && !bytes.Contains(text, []byte("\n== "+f[1]+" "+f[2]+"\n\n")) {
				t.Errorf("no licence of %s, of which %s has parts", f[1], program)
			}
		}
	}
	for _, of := range []string{"The Go Authors", "Apache License", "HashiCorp"} {
		if !bytes.Contains(text, []byte(of)) {
			t.Errorf("no %q", of)
		}
	}
}

// units: systemd finds nothing wrong with the example of a nightly job.
func units(t *testing.T, m making) {
	lab.NeedProgram(t, "systemd-analyze")
	root := unpack(t, m)
	output(t, exec.Command("sh", "-ec", `
		cd "$1"
		mkdir -p etc/systemd/system usr/local/bin lib/systemd
		cp usr/share/doc/locksmith/examples/nightly.* etc/systemd/system
		cp -a /lib/systemd/system lib/systemd  # for the targets that units are for
		ln -s ../../bin/locksmith usr/local/bin/nightly-billing`, "sh", root))
	verify := func() (said string) {
		cmd := exec.Command("systemd-analyze", "verify", "--man=no", "--root="+root, "nightly.timer", "nightly.service")
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "nightly") { // systemd's words about other units do not count
				said += line
			}
		}
		if err != nil && said == "" {
			t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
		}
		return said
	}
	if said := verify(); said != "" {
		t.Errorf("%s", said)
	}
	if err := os.Remove(filepath.Join(root, "usr/bin/locksmith")); err != nil {
		t.Fatal(err)
	}
	if verify() == "" {
		t.Error("it would say nothing if the program were missing")
	}
}
