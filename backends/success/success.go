// Package success keeps the last success of what a lock guards, beside the lock. The rule is
// here, for all kinds of locks. Each kind keeps its successes in its own way, by a Store.
//
// Each success has a number, and the last is the one with the greatest. A holder that adds a
// success removes the earlier ones. A request of a holder that has lost the lock may be executed
// late: then it adds a success whose number counts no longer. No rule of a lock looks at
// successes.
package success

import (
	"context"
	"slices"
	"time"

	"locksmith/backends/backend"
)

// A Mark is a success that is on record.
type Mark struct {
	Name   string    // under which the store keeps it
	Number uint64    // 0: it is none
	Void   bool      // no holder can have had the number: the lock was removed since
	At     time.Time // by the clock of the lock's place
	Host   string    // that succeeded; empty: not known
	By     string    // backend.Success.By
}

// A Store keeps the marks of a lock. Its errors say what was tried.
type Store interface {
	// List lists all marks. It need not fill in what Read does.
	List(ctx context.Context) ([]Mark, error)
	// Read fills in when a mark was made, and by whom.
	Read(ctx context.Context, m *Mark) error
	// Write makes a mark of now.
	Write(ctx context.Context, number uint64) (Mark, error)
	// Remove removes a mark. One that is gone is no error.
	Remove(ctx context.Context, m Mark) error
}

// Newest returns the last of some marks; its number is 0 if there is none.
func Newest(all []Mark) (newest Mark) {
	for _, m := range all {
		if m.Number > newest.Number && !m.Void {
			newest = m
		}
	}
	return newest
}

// Last returns the last success, or nil. now is the time by the clock of the lock's place.
func Last(ctx context.Context, s Store, now time.Time) (*backend.Success, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	return Of(ctx, s, all, now)
}

// Of returns the last of the successes that were listed, or nil.
func Of(ctx context.Context, s Store, all []Mark, now time.Time) (*backend.Success, error) {
	last := Newest(all)
	if last.Number == 0 {
		return nil, nil
	}
	if err := s.Read(ctx, &last); err != nil {
		return nil, err
	}
	return &backend.Success{Ago: now.Sub(last.At), Host: last.Host, By: last.By}, nil
}

// Record adds a success of now. Successes of later holders stay: a holder that was stopped for
// long may come after them.
func Record(ctx context.Context, s Store, number uint64) error {
	ours, err := s.Write(ctx, number)
	if err != nil {
		return err
	}
	if all, err := s.List(ctx); err == nil { // ours is on record; the next one tries again
		_ = Forget(ctx, s, slices.DeleteFunc(all, func(m Mark) bool { return m.Name == ours.Name || m.Number > number && !m.Void }))
	}
	return nil
}

// Forget removes some successes.
func Forget(ctx context.Context, s Store, some []Mark) error {
	for _, m := range some {
		if err := s.Remove(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
