//go:build unix && !linux

package nfs

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/generation/symlinks"
	"locksmith/backends/posix"
)

// Touch sets the time of this host's clock.
func (d *directory) Touch(_ context.Context, name string) error {
	return posix.Errno(os.Chtimes(d.at(name), time.Now(), time.Now()))
}

// Keep does nothing: on these systems a cleaner by age may remove what a held lock needs, and a
// heartbeat finds that.
func (*directory) Keep(context.Context, string, ...string) {}

// Look asks the cache, because there is no way around it here: others' dead are
// noticed later, and the living must beat for longer than it remembers.
func (d *directory) Look(_ context.Context, name string) (symlinks.Sight, error) {
	st, err := os.Lstat(d.at(name))
	if err != nil {
		return symlinks.Sight{}, posix.Errno(err)
	}
	var raw unix.Stat_t
	if err := unix.Lstat(d.at(name), &raw); err != nil {
		return symlinks.Sight{}, err
	}
	return symlinks.Sight{Sign: fmt.Sprint(st.ModTime().UnixNano()), Modified: st.ModTime(), Links: uint64(raw.Nlink), User: raw.Uid}, nil
}
