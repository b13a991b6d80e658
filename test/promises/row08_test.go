//go:build linux

package promises

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// row8: a look that misses is no proof.
func row8() []question {
	return []question{
		{row: 8, name: "one reading lacks the lock", want: "status does not call its holder unknown, dead or blocked, nor the lock free", ask: oneReadingLacks, of: ofThisDisk},
		{row: 8, name: "one reading lacks the lock, for a try", want: "a try does not take it, nor calls its holder unknown", ask: oneReadingLacksForTry, of: ofThisDisk},
	}
}

// missing runs a command in a namespace whose /proc/locks lacks all locks when it is read for the
// first time.
func (c *cell) missing(args ...string) said {
	c.Helper()
	whole, err := os.ReadFile("/proc/locks")
	c.must(err)
	list := filepath.Join(c.home, "locks")
	c.must(os.WriteFile(list, []byte("1: POSIX  ADVISORY  WRITE 1 00:01:1 0 EOF\n"), 0o644))
	notify, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	c.must(err)
	_, err = unix.InotifyAddWatch(notify, list, unix.IN_CLOSE_NOWRITE)
	c.must(err)
	watch, done := os.NewFile(uintptr(notify), "inotify"), make(chan struct{})
	go func() {
		defer close(done)
		if n, _ := watch.Read(make([]byte, 4096)); n > 0 { // else nobody has read it
			_ = os.WriteFile(list, whole, 0o644)
		}
	}()
	defer func() {
		_ = watch.Close()
		<-done
	}()
	lab.NeedProgram(c, "unshare")
	cmd := exec.Command("unshare", append([]string{"-m", "sh", "-e", "-c", "mount --bind " + list + ` /proc/locks; exec "$@"`, "sh", c.Program}, args...)...)
	cmd.Env = c.env()
	return c.finish(cmd)
}

func misjudged(s said) bool { return s.has("unknown", "nothing frees it", "free", "[dead]") }

func oneReadingLacks(c *cell) evil {
	j := c.run(c.lasting(time.Minute)...)
	defer j.end()
	if s := c.missing("status", c.Address); misjudged(s) || !s.has("held by") {
		return evil(s.String())
	}
	return ""
}

func oneReadingLacksForTry(c *cell) evil {
	j := c.run(c.lasting(time.Minute)...)
	defer j.end()
	if s := c.missing("run", "-n", c.Address, "--", "echo", "ran"); strings.Contains(s.out, "ran") || misjudged(s) || s.status != 75 {
		return evil(s.String())
	}
	return ""
}
