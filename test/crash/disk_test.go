//go:build linux && amd64

package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// surroundings are the mishaps that happen to the machine.
var surroundings = []mishap{
	{Mishap: mishaps.OutOfMemory, lease: longLease, plan: plan{Stays: true},
		inject: (*cell).starve},
	{Mishap: mishaps.DiskFull, where: func(k kind) bool { return !k.isRemote() }, lease: longLease,
		prepare: (*cell).smallDisk,
		inject: func(c *cell) {
			c.fillDisk()
			c.resume()
		},
		undo: (*cell).freeDisk},
	{Mishap: mishaps.FilesAhead, lease: longLease,
		inject: func(c *cell) {
			c.aged(-time.Hour)
			c.resume()
		},
		undo: func(*cell) {}},
	{Mishap: mishaps.FilesBack, lease: longLease,
		inject: func(c *cell) {
			c.aged(time.Hour)
			c.resume()
		},
		undo: func(*cell) {}},
}

// elsewhen has a helper in a time namespace, whose clock since boot is a day ahead.
var elsewhen = mishap{
	Mishap: mishaps.KilledElsewhen,
	lease:  longLease,
	plan:   plan{Argv: []string{"/usr/bin/unshare", "--time", "--boottime", "86400"}},
	inject: killBoth,
}

// notHere are rows of mishaps that some kinds of locks cannot have.
func notHere() [][]string {
	var all [][]string
	for _, row := range [][]string{
		{"disk full", "`ftp:`", "n/a: it is the server's, which is asked for the same steps as the disk of `mkdir:` above"},
		{"server or network fails", "all on this disk", "n/a: there is no server and no way to it; the next table has `nfs:` over NFS"},
	} {
		all = append(all, append(row[:2], slices.Repeat(row[2:], len(mishaps.Moments))...))
	}
	return all
}

// suspended is the row of a mishap that no test may cause on its own machine.
func suspended(t *testing.T) []string {
	t.Helper()
	row := []string{"machine suspended", "all kinds"}
	for _, moment := range mishaps.Moments {
		test := "TestLosses"
		switch moment {
		case mishaps.Waiting:
			test = "TestSlowTry"
		case mishaps.Holding:
			test = "TestStoppedButNotTooLong"
		}
		text, err := os.ReadFile("../../locksmith/helper_test.go")
		if err != nil || !strings.Contains(string(text), "func "+test+"(t *testing.T)") {
			t.Errorf("package locksmith has no %s: %v", test, err)
		}
		row = append(row, "n/a: not done to this machine; over NFS it is, in the next table; with a fake clock: "+test+" of package locksmith")
	}
	return row
}

// smallDisk puts the place on a disk of its own.
func (c *cell) smallDisk() {
	if err := unix.Mount("tmpfs", c.dir, "tmpfs", 0, "size=128k,nr_inodes=64,mode=0755"); err != nil {
		lab.Lacking(c.t, "cannot mount a small file system: "+err.Error())
	}
	dir := c.dir
	c.t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			c.t.Error(err)
		}
	})
	c.filler = filepath.Join(c.dir, "filler")
	if err := os.Mkdir(c.filler, 0o755); err != nil {
		c.t.Fatal(err)
	}
}

// fillDisk fills the disk until not a byte and not a name has room.
func (c *cell) fillDisk() {
	c.t.Helper()
	full := os.WriteFile(filepath.Join(c.filler, "bytes"), make([]byte, 1<<20), 0o644)
	for n := 0; full == nil || errors.Is(full, unix.ENOSPC); n++ {
		err := os.Mkdir(filepath.Join(c.filler, fmt.Sprint(n)), 0o755)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		full = errors.Join(full, err)
	}
	c.t.Fatal(full)
}

func (c *cell) freeDisk() {
	c.t.Helper()
	if err := os.RemoveAll(c.filler); err != nil {
		c.t.Fatal(err)
	}
}
