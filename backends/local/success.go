package local

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/success"
)

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper.
func (l *Lock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	now, err := held.(*hold).now()
	if err != nil {
		return nil, err
	}
	last, err := success.Last(ctx, lockfile.Successes{Path: l.path}, now)
	if err != nil {
		return nil, l.fail("look for the last success", err)
	}
	return last, nil
}

// now makes a heartbeat and returns its time, by the clock of the file system. The age of a success
// counts up to that time, so that both times are of one clock.
func (h *hold) now() (time.Time, error) {
	if err := h.Heartbeat(context.Background()); err != nil {
		return time.Time{}, err
	}
	st, err := h.file.Stat()
	return st.Modified, h.explain("look at lock file", err)
}

// lastSuccess is the last one, at this time by the clock of the file system.
func (l *Lock) lastSuccess(now time.Time) *backend.Success {
	s, _ := success.Last(context.Background(), lockfile.Successes{Path: l.path}, now)
	return s
}

// RecordSuccess implements backend.SuccessKeeper.
func (l *Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	if err := held.Heartbeat(ctx); err != nil {
		return err
	}
	if err := success.Record(ctx, lockfile.Successes{Path: l.path}, 1); err != nil {
		return l.fail("record the success", err)
	}
	return nil
}
