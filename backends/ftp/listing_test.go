package ftp

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
)

// tellsOf lists the locks in the directory /dir/L, and returns their names.
func tellsOf(t *testing.T, d *Dir) (locks []string, err error) {
	t.Helper()
	l := mkdirlock.Lock{NewDir: func() dirs.Dir { return d }, Name: "L", Address: "ftp:L", Depth: 1}
	err = finder.List(soon(t), l.Here(), "ftp:L", backend.Listing{Tell: func(f backend.Listed) {
		if f.Err != nil {
			t.Error(f.Err)
		}
		locks = append(locks, f.Lock)
	}})
	return locks, err
}

// lines are a listing of directories.
func lines(names ...string) (text string) {
	for _, n := range names {
		text += "drwxr-xr-x 2 u g 4096 Jan 01 2024 " + n + "\r\n"
	}
	return text
}

// TestListingSilence: if a server falls silent while its locks are listed, it is not asked for
// the others.
func TestListingSilence(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	f := startFake(t).when("LIST", func(c *talk) {
		if asked.Add(1) > 1 {
			c.hang()
		}
		c.say("150 here it comes")
		c.send(lines("one", "three", "two"))
		c.say("226 done")
	})
	start := time.Now()
	locks, err := tellsOf(t, f.hasty())
	if backend.CodeOf(err) != protocol.Unreachable || len(locks) > 0 || time.Since(start) > 2*late {
		t.Errorf("a server that falls silent: the search finds %q after %v, with the error %v; want nothing and code %s after %v at most", locks, time.Since(start), err, protocol.Unreachable, 2*late)
	}
	if more := f.sent("LIST /dir/L/t"); len(more) > 0 {
		t.Errorf("it was asked for %q", more)
	}
}

// TestListingOdd: a lock that goes away between two looks is no error. Neither are directories
// that cannot be a lock.
func TestListingOdd(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	f := startFake(t)
	f.listing = "here\r\n"
	f.when("LIST", func(c *talk) {
		n := asked.Add(1)
		if n == 2 || n == 3 { // what is gone is looked for again
			c.data.Close()
			c.say("550 gone")
			return
		}
		c.say("150 here it comes")
		c.send(map[bool]string{true: lines("gone", "here", "~odd")}[n == 1])
		c.say("226 done")
	})
	locks, err := tellsOf(t, f.dir())
	if err != nil || !slices.Equal(locks, []string{"ftp:L/here"}) {
		t.Errorf("the search finds %q with the error %v, and sent %q; want ftp:L/here alone", locks, err, f.sent(""))
	}
}
