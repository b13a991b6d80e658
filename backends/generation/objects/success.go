package objects

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/success"
)

// A success is an object s.<N>-<id>, whose content is the record of the holder of generation N.
// Its age is the difference of two times of the store: the object's, and that of a heartbeat
// that was written just now.

var successNames = generation.SuccessNames{Prefix: successPrefix, Digits: 20}

// marks are the successes that a listing showed.
func (v view) marks() (all []success.Mark) {
	for _, o := range v.successes {
		if m, ok := successNames.Parse(o.Key); ok {
			m.At, m.Void = o.Modified, m.Number > v.numbers.Newest()
			all = append(all, m)
		}
	}
	return all
}

// successes are the successes of a lock.
type successes struct {
	generation.Successes
	lock *Lock
}

// successes are the lock's successes, for a holder; nil: we only read or remove them.
func (l *Lock) successes(h *hold) successes {
	s := successes{generation.Successes{Texts: texts{l}, Names: successNames}, l}
	if h != nil {
		s.By = h.Mine.Own()
	}
	return s
}

// List implements success.Store.
func (s successes) List(ctx context.Context) ([]success.Mark, error) {
	v, err := s.lock.list(ctx)
	return v.marks(), err
}

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper.
func (l *Lock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return nil, err
	}
	v, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	now, told := v.beats[h.Mine.ticket.beat()]
	if all := v.marks(); told || success.Newest(all).Number == 0 {
		return success.Of(ctx, l.successes(h), all, now.Modified)
	}
	return nil, l.fail("find out the store's time", errors.New("the listing lacks our heartbeat"))
}

// RecordSuccess implements backend.SuccessKeeper.
func (l *Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	return success.Record(ctx, l.successes(h), h.Number)
}
