package mkdirlock

import (
	"context"
	"errors"
	"io"
)

// disk is dir, if locks of this style can do with more.
func (l *Lock) disk(dir Dir) Disk {
	d, ok := dir.(Disk)
	if !ok || l.Style != PlainStyle {
		return nil
	}
	return d
}

// pin pins the lock's directory before an entry in it is removed. In which it was seen
// before and is found after, that is the directory that it is in. errAgain: it is gone.
func (l *Lock) pin(ctx context.Context, dir Dir, at string) (io.Closer, error) {
	disk := l.disk(dir)
	if disk == nil {
		return nil, nil
	}
	pin, err := disk.Pin(ctx, at)
	switch {
	case refused(err):
		return nil, errAgain
	case err != nil && !errors.Is(err, errors.ErrUnsupported): // then nobody clears it
		return nil, l.fail("open the lock directory", err)
	}
	return pin, nil
}

func unpin(pin io.Closer) {
	if pin != nil {
		_ = pin.Close()
	}
}

// cleared removes a lock that nobody has and nobody is going to remove.
func (a *attempt) cleared(ctx context.Context) bool {
	return a.disk != nil && a.disk.Clear(ctx, a.lock.lock()) == nil
}
