//go:build linux

package promises

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"locksmith/test/lab"
)

// A box is a container: a host name, pids, a /proc and a local memory of its own. It has the
// network of this machine, or no server could be reached from it.
type box struct {
	host     string
	boot     string // its boot id; "": this machine's
	machine  string // its machine id; "": this machine's
	memory   string // options of the tmpfs in which its users' tries remember; "": they have this machine's
	homeless bool   // its user has no home
}

// elsewhere is another host.
func elsewhere() box {
	return box{host: "elsewhere", boot: newUUID(), machine: strings.ReplaceAll(newUUID(), "-", "")}
}

func newUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // which never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// memory is where the tries of root remember.
const memory = "/run/locksmith"

// in makes a command run in a box.
func (c *cell) in(b box, cmd *exec.Cmd) *exec.Cmd {
	c.Helper()
	lab.NeedProgram(c, "unshare")
	dir := c.TempDir()
	script := "mount -t proc proc /proc; hostname " + b.host
	bind := func(text, over string) {
		c.Helper()
		if text == "" {
			return
		}
		file := filepath.Join(dir, filepath.Base(over))
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			c.Fatal(err)
		}
		script += "; mount --bind " + file + " " + over
	}
	bind(b.boot, "/proc/sys/kernel/random/boot_id")
	bind(b.machine, "/etc/machine-id")
	if b.memory != "" {
		if err := os.MkdirAll(memory, 0o700); err != nil {
			c.Fatal(err)
		}
		script += "; mount -t tmpfs -o mode=700," + b.memory + " t " + memory
	}
	if b.homeless {
		script += `; export NETRC="$HOME/.netrc"; unset HOME` // that is no memory
	}
	boxed := exec.Command("unshare", append([]string{"-m", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "sh", "-e", "-c", script + `; exec "$@"`, "sh"}, cmd.Args...)...)
	boxed.Env = cmd.Env
	return boxed
}
