//go:build unix

package interop

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// troubles are lock files that say nothing of use, each with what status shows.
var troubles = []struct {
	name, content string
	mode          os.FileMode
	shows         string
}{
	{"empty", "", 0o644, "it is empty"},
	{"garbage", "\x00\xff\x1b[31mgarbage\n\n", 0o644, "made by another tool: it holds"},
	{"too long", strings.Repeat("x", 10000), 0o644, "too long for one of ours"},
	{"a pid of another host", "4242 web3\n", 0o644, `it holds "4242 web3"`},
	{"a pid of nobody knows where", "4194303\n", 0o644, "pid 4194303"},
	{"half a record", "4242\nLOCK v=1 id=", 0o644, `it holds "4242"`},
	{"unreadable", "4242\n", 0, "cannot be read"},
}

// TestTrouble: such a lock is held by somebody unknown, however old it is. Package link tests
// when it is broken.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, x := range troubles {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := &cell{T: t, pair: pair{scheme: "link:"}, dir: nobodysDir(t)}
			mustWork(t, os.WriteFile(c.path(), []byte(x.content), 0o600))
			mustWork(t, os.Chmod(c.path(), x.mode))
			c.mustSay(0, x.shows, "status", c.address())
			c.age(2 * time.Hour)
			c.mustSay(held, "held by", "run", "--timeout", "0", c.address(), "--", "true")
		})
	}
}

// mustSay runs a locksmith whom permissions bind.
func (c *cell) mustSay(status int, text string, args ...string) {
	c.Helper()
	cmd := locksmith(c.T, args...)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if got, said := lab.Run(c.T, cmd); got != status || !strings.Contains(said, text) {
		c.Errorf("%q: exit status %d, want %d and %q:\n%s", args, got, status, text, said)
	}
}

const nobody = 65534

// nobodysDir is a directory of a user whom permissions bind. That user cannot reach those of
// t.TempDir.
func nobodysDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "interop-")
	mustWork(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		mustWork(t, os.Chown(dir, nobody, nobody))
	}
	return dir
}
