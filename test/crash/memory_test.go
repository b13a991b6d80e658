//go:build linux && amd64

package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// groupMemory is how much memory the victim and its neighbour may use together.
const groupMemory = 16 << 20

// starve puts the victim into a control group with little memory, in which another process takes
// all there is. The kernel is told to kill the victim first.
func (c *cell) starve() {
	c.t.Helper()
	group := c.group()
	pid := strconv.Itoa(c.victim.helper)
	adjust := os.WriteFile(fmt.Sprintf("/proc/%s/oom_score_adj", pid), []byte("1000"), 0)
	moved := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(pid), 0)
	if err := errors.Join(adjust, moved); err != nil {
		c.t.Fatal(err)
	}
	// The shell joins the group before it becomes the neighbour. The neighbour keeps all that it
	// reads of a line without an end.
	hog := exec.Command("sh", "-c", `echo $$ >"$0/cgroup.procs" && exec tail /dev/zero`, group)
	if err := hog.Start(); err != nil {
		c.t.Fatal(err)
	}
	lab.Eventually(c.t, "the victim's end", func() bool { return gasping(c.victim.helper) })
	_ = hog.Process.Kill() // it may be killed next
	_ = hog.Wait()
	c.resume()
}

// gasping reports whether a process was killed. A tracer must see that before the process ends.
func gasping(pid int) bool {
	var stat unix.Stat_t
	return ended(pid) || unix.Stat(fmt.Sprintf("/proc/%d/exe", pid), &stat) != nil
}

// group makes a control group with little memory, of either version.
func (c *cell) group() string {
	c.t.Helper()
	limits := map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"}
	var errs error
	for _, root := range []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		group, err := os.MkdirTemp(root, "crash-")
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		c.t.Cleanup(func() { removeGroup(c, group) })
		err = os.WriteFile(filepath.Join(group, limits[root]), []byte(strconv.Itoa(groupMemory)), 0)
		if err == nil {
			return group
		}
		errs = errors.Join(errs, err)
	}
	lab.Lacking(c.t, "no control group for memory here: "+errs.Error())
	return ""
}

func removeGroup(c *cell, group string) {
	lab.Eventually(c.t, "an empty control group", func() bool {
		err := os.Remove(group)
		return err == nil || errors.Is(err, os.ErrNotExist)
	})
}
