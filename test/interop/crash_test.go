package interop

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// theirCrash tells when we break the lock of one of theirs that was killed.
func (c *cell) theirCrash() string {
	h := c.theirs()
	h.must("held")
	h.kill()
	defer c.clear()
	switch {
	case c.weTake("--timeout", "0"):
		return "at once"
	case c.weTake("--lease", "3s", "--timeout", "20s"):
		return "after a lease of silence"
	case c.scheme == "mkdir:" && c.reaped():
		return "never; `reap` by age"
	}
	return "never"
}

// reaped is what an operator's cron job does.
func (c *cell) reaped() bool {
	c.age(time.Hour)
	cmd := exec.Command(built.Path(c.T, "locksmith"), "reap", "--max-age", "6m", "--yes", c.scheme+c.dir)
	status, said := statusOf(c.T, cmd)
	c.Logf("reap: exit status %d\n%s", status, said)
	return !c.exists()
}

// ourCrash tells when the tool breaks the lock of one of ours that was killed.
func (c *cell) ourCrash() string {
	defer c.clear()
	c.crash()
	if !c.weTake("--timeout", "0") {
		c.Error("we do not break our own dead one's lock at once")
	}
	seen := c.whenBroken(false)
	if c.tool.stale != "" {
		c.clear()
		seen += fmt.Sprintf("; with %s %s", c.tool.stale, c.whenBroken(true))
	}
	return seen
}

// crash leaves a lock of ours behind. What locksmith ran is killed with it.
func (c *cell) crash() {
	c.Helper()
	h := c.ours()
	h.must("held")
	h.kill()
	if !c.exists() {
		c.Fatal("who was killed left no lock")
	}
}

// ages are those at which a tool is asked. The usual limit is 5 minutes.
var ages = []struct {
	name string
	age  time.Duration
}{{"0", 0}, {"30 s", 30 * time.Second}, {"4 min", 4 * time.Minute}, {"6 min", 6 * time.Minute}, {"2 h", 2 * time.Hour}}

// whenBroken tells at what age the tool breaks the lock of ours that crashed.
func (c *cell) whenBroken(old bool) string {
	c.crash()
	trouble := ""
	for i, a := range ages {
		c.age(a.age)
		status, said := c.they(old)
		switch {
		case status == 0:
			return since(i) + trouble
		case status != held && !c.exists():
			return since(i) + ", but its call fails then"
		case status != held:
			trouble = ": its call fails (" + said + ")"
		}
	}
	return "never" + trouble
}

// since tells an age from the one before.
func since(i int) string {
	if i == 0 {
		return "at once"
	}
	return fmt.Sprintf("at an age of %s to %s", ages[i-1].name, ages[i].name)
}

// modified is the time of the lock.
func (c *cell) modified() time.Time {
	c.Helper()
	info, err := os.Lstat(c.path())
	mustWork(c.T, err)
	return info.ModTime()
}
