//go:build unix && !linux

package nfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/nfs/generation"
	"locksmith/backends/process"
)

// Touch sets the time of this host's clock.
func (d *directory) Touch(name string) error {
	return errno(os.Chtimes(d.at(name), time.Now(), time.Now()))
}

// Look asks the cache, because there is no way around it here: others' dead are
// noticed later, and the living must beat for longer than it remembers.
func (d *directory) Look(name string) (generation.Sight, error) {
	st, err := os.Lstat(d.at(name))
	if err != nil {
		return generation.Sight{}, errno(err)
	}
	var raw unix.Stat_t
	if err := unix.Lstat(d.at(name), &raw); err != nil {
		return generation.Sight{}, err
	}
	return generation.Sight{Sign: fmt.Sprint(st.ModTime().UnixNano()), Modified: st.ModTime(), Links: uint64(raw.Nlink)}, nil
}

// List opens the directory anew each time: a descriptor that is rewound shows
// what is up to half a minute old.
func (d *directory) List(name string) ([]string, error) {
	f, err := os.OpenFile(d.at(name), unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, errno(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return names, errno(err)
}

// errno is the system's own error in one of package os.
func errno(err error) error {
	var n unix.Errno
	if errors.As(err, &n) {
		return n
	}
	return err
}

// Await sleeps: nothing wakes a waiter here.
func (d *directory) Await(ctx context.Context, _ string, _ process.Process, pause time.Duration) {
	clock.Sleep(ctx, clock.Boot{}, pause)
}
