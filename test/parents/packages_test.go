//go:build unix

package parents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// TestPackages: each client becomes a package that its language's users install. Nothing is
// fetched.
func TestPackages(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct{ folder, program, script, makes string }{
		"wheel": {"python", "/usr/bin/python3", // Debian's, which has setuptools as a package
			`"$0" -c 'from setuptools.build_meta import build_wheel; print(build_wheel("."))' && "$0" -m zipfile -l ./*.whl`,
			"locksmith/__init__.py locksmith/py.typed"},
		"distribution": {"perl", "perl", `"$0" Makefile.PL && make -s install DESTDIR="$PWD/root" && find root`, "/Locksmith.pm /Locksmith.3pm"},
		"package":      {"tcl", "tclsh", `echo 'lappend auto_path .; puts "has [package require locksmith]"' | "$0"`, "has|1.0"},
		"module": {"node", "node", `
			mkdir -p node_modules/locksmith && cp *.mjs *.mts package.json node_modules/locksmith
			"$0" --input-type=module -e 'import * as l from "locksmith"; console.log("has", typeof l.acquire)'
			"$0" -e 'for (const f of require("./package.json").files) console.log("packs", f, fs.statSync(f).size > 0)'
			if command -v npm >/dev/null; then npm pack --dry-run --offline 2>&1 && echo "packs all"; fi`,
			"has|function packs|locksmith.mjs|true packs|locksmith.d.mts|true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab.NotShort(t, "makes packages")
			lab.NeedProgram(t, p.program)
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../client/"+p.folder)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-ec", p.script, p.program)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "PWD="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for want := range strings.FieldsSeq(p.makes) {
				if !strings.Contains(string(out), strings.ReplaceAll(want, "|", " ")) {
					t.Errorf("the package lacks %s; what was made in %s:\n%s", want, filepath.Base(dir), out)
				}
			}
		})
	}
}
