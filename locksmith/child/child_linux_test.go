package child

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// TestOutlivesUs: the record says so of programs that the kernel does not kill when we die.
func TestOutlivesUs(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	root := os.Geteuid() == 0
	for name, c := range map[string]struct {
		change func(path string) error
		want   bool
	}{
		"plain":   {func(string) error { return nil }, false},
		"setuid":  {func(path string) error { return os.Chmod(path, 0o755|os.ModeSetuid) }, true},
		"setgid":  {func(path string) error { return os.Chmod(path, 0o755|os.ModeSetgid) }, true},
		"setpriv": {func(string) error { return nil }, root},
		"capable": {func(path string) error {
			capNetRaw := []byte{1, 0, 0, 2, 0, 1 << 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} // capabilities(7)
			return unix.Setxattr(path, "security.capability", capNetRaw, 0)
		}, true},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		err := c.change(path)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) {
			t.Logf("%s: not tried: %v", name, err)
			continue
		}
		var r owner.Record
		(&Command{path: path, lifeline: &process.Lifeline{User: os.Geteuid()}}).Describe(&r)
		if err != nil || r.NoProof != c.want {
			t.Errorf("a program that is %s: the record says NoProof: %v, want %v (change of the file: %v)", name, r.NoProof, c.want, err)
		}
	}
}
