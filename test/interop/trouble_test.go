package interop

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// troubles are lock files that say nothing of use. Each tells what status shows.
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

// TestTrouble: such a lock is held by somebody unknown, and broken by age only: it
// must be old, and then be watched for half a minute at least.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, x := range troubles {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := &cell{T: t, pair: pair{scheme: "link:"}, dir: nobodysDir(t)}
			mustWork(t, os.WriteFile(c.path(), []byte(x.content), 0o600))
			mustWork(t, os.Chmod(c.path(), x.mode))
			c.mustShow(x.shows)
			c.age(2 * time.Hour)
			c.mustBeHeld()
			c.mustBreakByAge()
			c.mustBeEmpty()
		})
	}
}

func (c *cell) mustShow(text string) {
	c.Helper()
	status, said := statusOf(c.T, c.bound("status", c.address()))
	if status != 0 || !strings.Contains(said, text) {
		c.Errorf("status: exit status %d, without %q:\n%s", status, text, said)
	}
}

func (c *cell) mustBeHeld() {
	c.Helper()
	status, said := statusOf(c.T, c.bound("run", "--timeout", "0", c.address(), "--", "true"))
	if status != held || !strings.Contains(said, "held by") {
		c.Errorf("exit status %d\n%s", status, said)
	}
}

func (c *cell) mustBreakByAge() {
	c.Helper()
	began := time.Now()
	status, said := statusOf(c.T, c.bound("run", "--respite", "1s", "--timeout", "2m", c.address(), "--", "true"))
	if took := time.Since(began); status != 0 || took < 30*time.Second {
		c.Errorf("after %v: exit status %d\n%s", took, status, said)
	}
}

const nobody = 65534

// nobodysDir is a directory of a user whom permissions bind. Those of t.TempDir
// are out of that user's reach.
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

// bound is a locksmith whom permissions bind.
func (c *cell) bound(args ...string) *exec.Cmd {
	cmd := exec.Command(built.Path(c.T, "locksmith"), args...)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}
