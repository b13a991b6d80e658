//go:build linux

package promises

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"locksmith/test/lab"
	"locksmith/test/lab/kinds"
)

// row10: small systems.
func row10() []question {
	return []question{
		{row: 10, name: "no inode is left", want: "the error says df -i", ask: noInode, of: ofThisDisk},
		{row: 10, name: "a long name with --once-per", want: "it is refused before the job, or the job runs once", ask: longName, of: func(k kinds.Kind) bool { return k.Once && ofThisDisk(k) }},
		{row: 10, name: "little address space", want: "locksmith runs or refuses in words, or the guide has what Go says", ask: littleSpace},
		{row: 10, name: "reap of a time in the future", want: "it says so", ask: fromTheFuture, of: named("mkdir: ftp:")},
		{row: 10, name: "a folder left by a killed doctor", want: "reap removes it", ask: leftByDoctor, of: named("mkdir: ftp:")},
	}
}

// noInode has a file system with a few inodes, all in use.
func noInode(c *cell) evil {
	lab.NeedProgram(c, "unshare")
	script := `mount -t tmpfs -o nr_inodes=3 t ` + c.Dir + `; touch ` + c.Dir + `/1 ` + c.Dir + `/2; exec "$@"`
	cmd := exec.Command("unshare", append([]string{"-m", "sh", "-e", "-c", script, "sh", c.Program}, c.trying()...)...)
	cmd.Env = c.env()
	if s := c.finish(cmd); !s.has("df -i") {
		return evil(s.String())
	}
	return ""
}

func longName(c *cell) evil {
	log := filepath.Join(c.home, "log")
	address := c.Beside(strings.Repeat("a", 249))
	for range 2 {
		if s := c.do("run", "-n", "--once-per", "1h", address, "--", "sh", "-c", "echo ran >> "+log); s.status != 0 {
			if _, err := os.Stat(log); err != nil {
				return "" // refused before
			}
			return evil("the job ran, and then: " + s.String())
		}
	}
	text, err := os.ReadFile(log)
	c.must(err)
	if n := strings.Count(string(text), "ran"); n != 1 {
		return "the job ran twice"
	}
	return ""
}

// littleSpace: where Go itself fails, the guide shows what it says.
func littleSpace(c *cell) evil {
	guide := lab.GuideText(c)
	for _, limit := range []string{"900000", "1200000"} {
		cmd := exec.Command("sh", append([]string{"-c", "ulimit -v " + limit + `; exec "$@"`, "sh", c.Program}, c.trying()...)...)
		cmd.Env = c.env()
		s := c.finish(cmd)
		if strings.Contains(s.out, "ran") || s.status != 2 && !s.has("goroutine ") {
			continue
		}
		first, _, _ := strings.Cut(s.err, "\n")
		if !strings.Contains(guide, first) {
			return evil("with ulimit -v " + limit + " only: " + first)
		}
	}
	return ""
}

func fromTheFuture(c *cell) evil {
	c.Empty(c)
	c.Age(c, -72*time.Hour)
	if s := c.do("reap", "--max-age", "6m", "--yes", c.Place); !s.has("future", "ahead") {
		return evil(s.String())
	}
	return ""
}

func leftByDoctor(c *cell) evil {
	left := func() (all []string) {
		all, _ = filepath.Glob(c.Dir + "/*doctor*/*")
		return all
	}
	for range 10 { // what doctor makes it also removes, now and then
		d := lab.Start(c, c.command("doctor", c.Address))
		lab.Eventually(c, "doctor has something in a folder of its own", func() bool { return len(left()) > 0 })
		if d.Kill(); len(left()) > 0 {
			break
		}
	}
	if len(left()) == 0 {
		c.Fatal("doctor was done before it was killed")
	}
	c.Age(c, time.Hour)
	if s := c.do("reap", "--max-age", "6m", "--yes", c.Place); len(left()) > 0 {
		return evil(s.String())
	}
	return ""
}
