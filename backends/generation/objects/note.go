package objects

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/notes"
	"locksmith/backends/owner"
)

// texts keeps each text as an object.
type texts struct{ lock *Lock }

// Read implements notes.Shelf.
func (s texts) Read(ctx context.Context, op, name string) (string, error) {
	_, content, err := s.lock.Store.Get(ctx, name)
	if err != nil && !absent(err) {
		return "", s.lock.fail(op, err)
	}
	return string(content), nil
}

// Write implements notes.Shelf.
func (s texts) Write(ctx context.Context, op, name, text string) error {
	if err := s.lock.Store.Put(ctx, name, []byte(text)); err != nil {
		return s.lock.fail(op, err)
	}
	return nil
}

// Remove implements notes.Shelf.
func (s texts) Remove(ctx context.Context, op, name string) error {
	if err := s.lock.Store.Delete(ctx, name); err != nil {
		return s.lock.fail(op, err)
	}
	return nil
}

// named are the notes of breaks by hand that a listing showed.
func (v view) named() (all []notes.Named) {
	for _, o := range v.notes {
		n, _ := notes.ParseName(o.Key)
		all = append(all, notes.Named{Note: n, Sign: sign(o)})
	}
	return all
}

var (
	_ backend.NoteKeeper = (*Lock)(nil)
	_ backend.NotedHold  = (*hold)(nil)
)

// KeepNote implements backend.NoteKeeper.
func (l *Lock) KeepNote(ctx context.Context, n owner.Note) error {
	v, err := l.list(ctx)
	if err != nil {
		return err
	}
	return notes.Keep(ctx, l.Address, texts{l}, v.named(), n)
}
