//go:build linux

package promises

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// row2: nothing in the place tells whose it is.
func row2() []question {
	return []question{
		{row: 2, name: "an unfinished file", want: "a short quiet try takes what its maker left before the record", ask: unfinished, of: named("local:")},
		{row: 2, name: "the power is cut", want: "of three short quiet tries, a lease apart, one takes the lock or tells", ask: powerCut, of: ofThisDisk},
		{row: 2, name: "what says nothing", want: "of three short quiet tries, a lease apart, one takes the lock or tells", ask: saysNothing},
		{row: 2, name: "what says nothing, in metrics", want: "after three days it is blocked, or its age is told, and its age is never 0", ask: nothingInMetrics, of: isListed},
		{row: 2, name: "somebody's file", want: "a short quiet try tells, and metrics say blocked, or where a waiter removes it, tell its age", ask: somebodysFile, of: named("local: link:")},
	}
}

// unfinished: a power cut leaves the file empty, with the mark of its maker.
func unfinished(c *cell) evil {
	c.Empty(c)
	if err := os.Chmod(c.Path, 0o644|os.ModeSticky); err != nil {
		c.Fatal(err)
	}
	c.Age(c, 48*time.Hour)
	var s said
	for range 3 {
		if s = c.try(); strings.Contains(s.out, "ran") {
			return ""
		}
	}
	return evil(s.String())
}

// powerCut: a job and its helper are killed, and the disk keeps what it had written by then.
func powerCut(c *cell) evil {
	image := filepath.Join(c.home, "image")
	disk := func(argv ...string) {
		c.Helper()
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil && argv[0] == "mount" {
			c.Skipf("no disk can be mounted here whose power may be cut: %v %s", err, out)
		} else if err != nil {
			c.Fatalf("%q: %v %s", argv, err, out)
		}
	}
	disk("truncate", "-s", "16M", image)
	disk("mkfs.ext4", "-q", image)
	disk("mount", "-o", "loop", image, c.Dir)
	c.Cleanup(func() { disk("umount", c.Dir) })
	j := c.run(c.short()...)
	cutPower(c, c.Dir)
	c.must(j.Cmd.Process.Kill())
	j.LetGo()
	j.Kill()
	disk("umount", c.Dir)
	disk("cp", image, image+"2") // the first may still be mounted in another mount namespace
	disk("mount", "-o", "loop", image+"2", c.Dir)
	return takesOrTells(c)
}

// cutPower makes a file system of ext4 write nothing more, not even its log. By then it has written
// the names there are, but not what is in files.
func cutPower(c *cell, dir string) {
	const (
		shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN, linux/ext4.h
		noLogFlush = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
	)
	c.Helper()
	d, err := os.Open(dir)
	c.must(err)
	defer d.Close()
	c.must(d.Sync())
	c.must(unix.IoctlSetPointerInt(int(d.Fd()), shutdown, noLogFlush))
}

func saysNothing(c *cell) evil {
	c.Empty(c)
	c.Age(c, 48*time.Hour)
	return takesOrTells(c)
}

func takesOrTells(c *cell) evil {
	var s said
	for range 3 {
		if s = c.try(c.short()...); told(s) || strings.Contains(s.out, "ran") {
			return ""
		}
		time.Sleep(c.lease() + c.lease()/4)
	}
	return evil("three tries are left out with status 0 and not a word, the last: " + s.String())
}

// nothingInMetrics: what the next try takes or what is free need not be told of.
func nothingInMetrics(c *cell) evil {
	c.Empty(c)
	c.Age(c, 72*time.Hour)
	if s := c.try(); strings.Contains(s.out, "ran") {
		return ""
	}
	m := c.metrics()
	if age, known := m.value("locksmith_lock_held_seconds", c.Address); known && age < 71*3600 {
		return evil("held_seconds is " + number(age))
	}
	if m.fires(c, "LockBlocked") || m.fires(c, "LockHeldTooLong") {
		return ""
	}
	return "no rule fires"
}

// somebodysFile has a line that is no record.
func somebodysFile(c *cell) evil {
	if err := os.WriteFile(c.Path, []byte("do not touch\n"), 0o644); err != nil {
		c.Fatal(err)
	}
	c.Age(c, 72*time.Hour)
	if s := c.try(); !told(s) {
		return evil("a try: " + s.String())
	}
	m := c.metrics()
	if !m.fires(c, "LockBlocked") && !(c.Title == "link:" && m.fires(c, "LockHeldTooLong")) {
		return "no rule fires"
	}
	return ""
}
