package mkdirlock

import (
	"context"
	"errors"
	"io"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
)

// disk is dir, if it is a Disk and the lock is of plain style; else nil.
func (l *Lock) disk(dir dirs.Dir) dirs.Disk {
	d, ok := dir.(dirs.Disk)
	if !ok || l.Style != PlainStyle {
		return nil
	}
	return d
}

// pin pins the lock's directory, before an entry in it is removed. If the entry was there before
// the pin and is there after, it is in the directory that is pinned. backend.ErrAgain: the
// directory is gone. Without a Disk there is no pin.
func (l *Lock) pin(ctx context.Context, dir dirs.Dir, at string) (io.Closer, error) {
	disk := l.disk(dir)
	if disk == nil {
		return nil, nil
	}
	pin, err := disk.Pin(ctx, at)
	switch {
	case dirs.Refused(err):
		return nil, backend.ErrAgain
	case err != nil && !errors.Is(err, errors.ErrUnsupported): // if unsupported, nobody removes it as abandoned
		return nil, l.fail("open the lock directory", err)
	}
	return pin, nil
}

// removeAbandoned removes a lock that nobody has and nobody is going to remove.
func (a *attempt) removeAbandoned(ctx context.Context) bool {
	return a.disk != nil && a.disk.RemoveAbandoned(ctx, a.lock.lock()) == nil
}
