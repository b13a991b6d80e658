package objects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/success"
)

// A success is kept as an object s.<N>-<id>, whose content is the record of the holder that
// had generation N. Its age is told by the store's times alone: it is compared with a
// heartbeat that was written just now.

// successOf is the key of one.
func successOf(n uint64, id string) string { return fmt.Sprintf("%s%020d-%s", successPrefix, n, id) }

// parseSuccess reads what successOf wrote, and nothing else.
func parseSuccess(o Object) (m success.Mark, ok bool) {
	rest, ok := strings.CutPrefix(o.Key, successPrefix)
	digits, id, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	return success.Mark{Name: o.Key, Number: n, At: o.Modified}, ok && err == nil && owner.IsID(id) && successOf(n, id) == o.Key
}

// marks are the successes that a listing showed.
func (v view) marks() (all []success.Mark) {
	for _, o := range v.successes {
		if m, ok := parseSuccess(o); ok {
			m.Void = m.Number > v.numbers.Newest()
			all = append(all, m)
		}
	}
	return all
}

// successes are those of a lock.
type successes struct {
	lock *Lock
	hold *hold // ours; nil: for whoever only reads or removes them
}

// List implements success.Store.
func (s successes) List(ctx context.Context) ([]success.Mark, error) {
	v, err := s.lock.list(ctx)
	return v.marks(), err
}

// Read implements success.Store.
func (s successes) Read(ctx context.Context, m *success.Mark) error {
	if _, content, err := s.lock.Store.Get(ctx, m.Name); err == nil {
		r, _ := owner.ParseRecord(string(content))
		m.Host = r.Place.Host
	}
	return nil
}

// Write implements success.Store.
func (s successes) Write(ctx context.Context, n uint64) (success.Mark, error) {
	m := success.Mark{Name: successOf(n, s.hold.ID()), Number: n}
	if err := s.lock.Store.Put(ctx, m.Name, []byte(s.hold.claim.record)); err != nil {
		return m, s.lock.fail("record the success", err)
	}
	return m, nil
}

// Remove implements success.Store.
func (s successes) Remove(ctx context.Context, m success.Mark) error {
	if err := s.lock.Store.Delete(ctx, m.Name); err != nil {
		return s.lock.fail("remove an older success", err)
	}
	return nil
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
	now, told := v.beats[h.claim.ticket.beat()]
	if all := v.marks(); told || success.Newest(all).Number == 0 {
		return success.Of(ctx, successes{l, h}, all, now.Modified)
	}
	return nil, l.fail("find out the store's time", errors.New("the listing lacks our heartbeat"))
}

// RecordSuccess implements backend.SuccessKeeper.
func (l *Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	return success.Record(ctx, successes{l, h}, h.Number)
}
