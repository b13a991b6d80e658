package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksmith/test/lab"
)

// TestLostWithoutProc: without a /proc that tells who the command is, the command still ends
// when its lock is lost.
func TestLostWithoutProc(t *testing.T) {
	lab.NotShort(t, "needs root")
	t.Parallel()
	lab.NeedRoot(t)
	for name, in := range map[string][]string{
		"not mounted":        {"unshare", "-m", "sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh"},
		"of others":          {"unshare", "-pf"},
		"of others, no init": {"unshare", "-pf", "sh", "-c", `"$@"; exit $?`, "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab.NeedProgram(t, "unshare")
			dir := t.TempDir()
			lock, ready := filepath.Join(dir, "lock"), filepath.Join(dir, "ready")
			command := append(in[:len(in):len(in)], "locksmith", "run", "--refresh", "1", "mkdir:"+lock, "--", "sh", "-c", "touch "+ready+"; sleep 300; exit 8")
			p := lab.Start(t, exec.Command(command[0], command[1:]...))
			mustAppear(t, ready)
			if err := os.RemoveAll(lock); err != nil {
				t.Fatal(err)
			}
			p.Exits(79)
		})
	}
}
