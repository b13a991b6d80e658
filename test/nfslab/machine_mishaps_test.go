//go:build linux

package nfslab

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab/mishaps"
)

// ofMachines is what may happen to the machines.
var ofMachines = []mishap{
	{Mishap: mishaps.DiskFull, alone: true, survives: true,
		prepare: func(c *crash) {
			freeDisk(c.t) // from a try before
			do(c.t, "mkdir", filler)
			c.t.Cleanup(func() { freeDisk(c.t) })
			fillDisk(c.t, "most", 64, 1<<20) // this takes long
		},
		inject: func(c *crash) { fillDisk(c.t, "rest", 0, 0) },
		heal:   func(c *crash) { freeDisk(c.t) }},
	{Mishap: mishaps.ClocksAhead, alone: true, survives: true,
		inject: func(c *crash) { c.stepForNow(time.Hour) }},
	{Mishap: mishaps.ClocksBack, alone: true, survives: true,
		inject: func(c *crash) { c.stepForNow(-time.Hour) }},
	{Mishap: mishaps.KilledAhead, alone: true,
		inject: func(c *crash) {
			c.kill(c.pids.helper, c.pids.parent)
			c.stepForNow(time.Hour)
		}},
	{Mishap: mishaps.KilledBack, alone: true,
		inject: func(c *crash) {
			c.kill(c.pids.helper, c.pids.parent)
			c.stepForNow(-time.Hour)
		}},
	{Mishap: mishaps.Suspended, alone: true, survives: true,
		inject: func(c *crash) { c.suspend(c.lease / 3) }},
	{Mishap: mishaps.LongSuspended, alone: true, patient: true, stops: true, late: mishaps.AfterWaking,
		inject: func(c *crash) {
			c.thaw()
			c.suspend(c.lease * 5 / 4)
			c.happened = now()
		}},
}

// stepForNow sets the clock, until the cell is over.
func (c *crash) stepForNow(by time.Duration) {
	step(c.t, by)
	c.t.Cleanup(func() { step(c.t, -by) })
}

// suspend suspends the whole guest.
func (c *crash) suspend(d time.Duration) {
	from := now()
	do(c.t, "suspend", fmt.Sprintf("%.1f", d.Seconds()))
	c.t.Logf("suspended for %v", now()-from)
}

const filler = export + "/filler"

// fillDisk leaves room for no more than so many names and bytes.
func fillDisk(t *testing.T, name string, names int, bytes int64) {
	t.Helper()
	f, err := os.Create(filler + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	made := 0
	for ; err == nil; made++ {
		err = syscall.Mknod(fmt.Sprintf("%s/%s-%d", filler, name, made), syscall.S_IFREG|0o600, 0)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for ; names > 0 && made > 0; names-- {
		made--
		_ = os.Remove(fmt.Sprintf("%s/%s-%d", filler, name, made)) // the last was not made
	}
	total := int64(0)
	for size := int64(1 << 30); size >= 1<<10; {
		if syscall.Fallocate(int(f.Fd()), 0, total, size) != nil {
			size /= 2
			continue
		}
		total += size
	}
	if err := f.Truncate(max(total-bytes, 0)); err != nil {
		t.Fatal(err)
	}
	t.Logf("filled up with %d files and %d bytes", made, total)
}

func freeDisk(t *testing.T) { do(t, "rm", "-rf", filler) }
