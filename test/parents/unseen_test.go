//go:build unix

package parents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksmith/test/lab"
)

// TestUnseenParents: the examples with two pipes let go of a helper that cannot look at its parent,
// as in a container, though others may hold those pipes open.
func TestUnseenParents(t *testing.T) {
	t.Parallel()
	lab.NeedRoot(t)
	lab.NeedProgram(t, "unshare")
	if err := exec.Command("unshare", "--pid", "--fork", "true").Run(); err != nil {
		lab.Lacking(t, "no pid namespace to be had: "+err.Error())
	}
	for _, name := range []string{"python", "tcl", "node"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, languageOf(t, name))
			script := fmt.Sprintf("#!/bin/sh\nexec unshare --pid --fork %s/locksmith \"$@\"\n", f.bin)
			f.bin = t.TempDir()
			if err := os.WriteFile(filepath.Join(f.bin, "locksmith"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			p := f.start(f.language.command(t, "example", f.address()), nil)
			p.expect("working")
			p.mustSucceed()
		})
	}
}
