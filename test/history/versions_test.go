//go:build unix

package history

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// The commits whose helpers share locks with this version's helpers: one that has most kinds, and
// one that has s3: and flock: too. Sites upgrade one host after another, so that versions meet.
const (
	pinned = "d7ebf09a8db0c302bcd93e69720fb1993d37359c" // of 21 November 2026
	later  = "c5d3a723548d71556850f7c5e9fd4a0c051b89ae" // of 23 November 2026
)

// TestVersions lets helpers of an older version and of this one take turns with every kind of
// lock, and kills them: as holders, as waiters, and while they break what others left. Only with
// -long it also builds the later of the two older versions, for the kinds that the first does not
// know.
func TestVersions(t *testing.T) {
	lab.NotShort(t, "it kills processes for half a minute")
	t.Parallel()
	lab.Program(t, "cmd/locksmith-remote")
	older, newer := atCommit(t, pinned, "./cmd/locksmith"), ""
	if *long {
		newer = atCommit(t, later, "./cmd/locksmith", "./cmd/locksmith-remote")
	}
	newHistory(t, toKill()/4, func(k kind) kind {
		if k.cells = min(k.cells, 1); *long {
			k.cells *= 2
		}
		k.helpers = []string{older, ""}
		if strings.HasPrefix(k.name, "s3:") || strings.HasPrefix(k.name, "flock:") {
			if k.helpers[0] = newer; newer == "" {
				k.cells = 0
			}
		}
		if strings.HasPrefix(k.name, "etcd:") { // no older version has it
			k.cells = 0
		}
		return k
	}).run()
}

// atCommit returns the first of some programs as they were at a commit.
func atCommit(t *testing.T, commit string, programs ...string) string {
	t.Helper()
	const root = "../.."
	if err := exec.Command("git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		if _, isExit := errors.AsType[*exec.ExitError](err); isExit {
			t.Skipf("this clone has no commit %s: fetch the whole history", commit)
		}
		t.Fatal(err)
	}
	source, bin := t.TempDir(), t.TempDir()
	build := exec.Command("sh", "-ec", `commit=$1 source=$2 bin=$3
		shift 3
		git -C ../.. archive "$commit" | tar -x -C "$source"
		cd "$source"
		CGO_ENABLED=0 go build -o "$bin/" "$@"`, "sh", commit, source, bin)
	build.Args = append(build.Args, programs...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make %v of %s: %v\n%s", programs, commit, err, out)
	}
	program := filepath.Join(bin, filepath.Base(programs[0]))
	if _, err := os.Stat(program); err != nil {
		t.Fatal(err)
	}
	return program
}
