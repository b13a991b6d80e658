package objects

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/shelf"
)

// Each slip is an object, whose content is its text. A success is the object s.<N>-<id>, and its
// content is the record of the holder of generation N. Its age is the difference of two times of the
// store: the object's, and that of a heartbeat that was written just now.

var successNames = generation.SuccessNames{Prefix: successPrefix, Digits: 20}

// slipOf is the slip that a listed object is.
func slipOf(o Object) (shelf.Slip, bool) {
	s, ok := shelf.ParseNote(o.Key)
	if s.Sign = sign(o); !ok {
		s, ok = successNames.Parse(o.Key)
		s.At = o.Modified
	}
	return s, ok
}

// slips is the shelf of a lock.
type slips struct {
	lock *Lock
	hold *hold
	seen *view // that was just listed; nil: it is to be listed
}

// OnShelf implements shelf.Keeper.
func (l *Lock) OnShelf(_ context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	h, _ := held.(*hold)
	return use(&slips{lock: l, hold: h})
}

// List implements shelf.Shelf.
func (s *slips) List(ctx context.Context) ([]shelf.Slip, error) {
	if s.seen != nil {
		return s.seen.slips, nil
	}
	v, err := s.lock.list(ctx)
	return v.slips, err
}

// Now implements shelf.Shelf.
func (s *slips) Now(ctx context.Context) (time.Time, error) {
	if err := s.hold.Heartbeat(ctx); err != nil {
		return time.Time{}, err
	}
	v, err := s.lock.list(ctx)
	if err != nil {
		return time.Time{}, err
	}
	s.seen = &v
	now, told := v.beats[s.hold.Mine.ticket.beat()]
	if !told && shelf.Newest(v.slips).Number > 0 {
		return time.Time{}, s.lock.fail("find out the store's time", errors.New("the listing lacks our heartbeat"))
	}
	return now.Modified, nil
}

// Read implements shelf.Shelf.
func (s *slips) Read(ctx context.Context, op string, slip *shelf.Slip) error {
	_, content, err := s.lock.Store.Get(ctx, slip.Name)
	if slip.Text = string(content); err != nil && !absent(err) && slip.Number == 0 { // who succeeded matters less than when
		return s.lock.fail(op, err)
	}
	return nil
}

// Write implements shelf.Shelf.
func (s *slips) Write(ctx context.Context, op string, slip *shelf.Slip) error {
	if slip.Number > 0 {
		*slip = successNames.Slip(s.hold.Number, s.hold.Mine.Own())
	}
	if err := s.lock.Store.Put(ctx, slip.Name, []byte(slip.Text)); err != nil {
		return s.lock.fail(op, err)
	}
	return nil
}

// Remove implements shelf.Shelf.
func (s *slips) Remove(ctx context.Context, op string, slip shelf.Slip) error {
	if err := s.lock.Store.Delete(ctx, slip.Name); err != nil {
		return s.lock.fail(op, err)
	}
	return nil
}

var _ shelf.Keeper = (*Lock)(nil)
