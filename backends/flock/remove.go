//go:build unix

package flock

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/protocol"
)

// removable refuses what is more than a lock.
func (l *Lock) removable(f *lockfile.File) error {
	const hint = "if that is not needed any more either, remove it with rm"
	st, err := f.Stat()
	switch {
	case err != nil:
		return l.fail("look at lock file", err)
	case st.Kind != "":
		return l.address.Usage("remove", "it is "+st.Kind, hint)
	}
	text, err := f.Text()
	switch {
	case err != nil:
		return l.fail("read lock file", err)
	case !isPlain(text):
		return l.address.Usage("remove", "the file holds something else than a record of its lock", hint)
	}
	return nil
}

// Remove implements backend.Remover. A process that opened the file before the removal, and asks
// for the lock after it, locks the removed file. flock(1) does not notice that.
func (l *Lock) Remove(_ context.Context, held backend.Hold) error {
	h := held.(*hold)
	h.done = true
	defer h.file.Close()
	if err := h.named("remove"); err != nil {
		return err
	}
	if seen, err := flocks.Glance(l.path); err == nil && max(seen.Waiting(), seen.Crowd) > 0 { // Btrfs shows those that wait on another device
		return &backend.Error{Code: protocol.Held, Lock: string(l.address), Op: "remove", Err: errors.New("somebody waits for it"), Hint: "see who with: lslocks"}
	}
	f, err := lockfile.Open(l.path) // which fails if the path is a symbolic link
	if err == nil {
		defer f.Close()
		if err = l.removable(f); err == nil {
			// The success first: once the file is gone, the next holder may put down one of its own.
			err = errors.Join(l.shelf().Clear(), f.Unlink())
		}
	}
	if err != nil {
		return l.fail("remove", err)
	}
	return nil
}
