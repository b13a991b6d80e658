// Package shelf keeps slips beside a lock: small texts that are no part of the lock, and stay while it
// is free. They are notes of who broke it by hand, and the last success of what it guards. The rules
// for both are here, for all kinds of locks. A kind says how its place keeps a slip.
//
// No slip matters when the lock is taken, kept or broken.
package shelf

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A Keeper is a backend.Backend beside whose lock slips may stay.
type Keeper interface {
	// OnShelf calls use with the shelf of the lock, and returns its error, or why it could not call it.
	// held is whose slips use writes or reads: a hold, which may be lost by now, or nil.
	OnShelf(ctx context.Context, held backend.Hold, use func(Shelf) error) error
}

// A Shelf has the slips of one lock, during one use of it. op is what a call is for, for its error. A
// place that keeps no slips of one sort lists none, and its Write returns errors.ErrUnsupported.
type Shelf interface {
	// List lists the slips. It need not fill in what Read does.
	List(ctx context.Context) ([]Slip, error)
	// Now returns the time by the clock by which successes are dated. It is asked by a holder, before
	// List and Read.
	Now(ctx context.Context) (time.Time, error)
	// Read fills in Text. Of a success it also fills in At, By and perhaps Host. A slip that is gone, or
	// that nobody can read, has no text.
	Read(ctx context.Context, op string, s *Slip) error
	// Write writes a slip with its Name and Text. What is there already under its name is the same slip.
	// A kind may give a success the name, the number and the text that it always gave successes.
	Write(ctx context.Context, op string, s *Slip) error
	// Remove removes a slip. One that is gone is no error.
	Remove(ctx context.Context, op string, s Slip) error
}

// A Slip is a note of a break, or a success.
type Slip struct {
	Name string // under which the shelf keeps it
	Sign string // changes when it is written anew
	Text string
	Note owner.Note // of a note: what its name tells, the ID and the Lease
	// Number is that of a success: the last is the one with the greatest. 0: it is none.
	Number uint64
	Void   bool      // no holder can have had the number: the lock was removed since
	At     time.Time // when it succeeded, by the clock of the lock's place
	Host   string    // that succeeded; empty: the text tells
	By     string    // backend.Success.By
}

// Inspect is what Read of a lock shows, with what is on its shelf.
func Inspect(ctx context.Context, b backend.Backend) (backend.Report, error) {
	r, err := b.Read(ctx)
	if k, keeps := b.(Keeper); keeps && err == nil && !r.Shelved {
		_ = k.OnShelf(ctx, nil, func(s Shelf) error { Tell(ctx, s, &r, time.Now()); return nil })
	}
	return r, err
}

// Tell adds to a report what is on the shelf of its lock. now is the time by this machine's clock.
func Tell(ctx context.Context, s Shelf, r *backend.Report, now time.Time) {
	r.Shelved = true
	all, err := s.List(ctx)
	if err != nil {
		return
	}
	r.Success, _ = last(ctx, s, all, now)
	r.Broken = lastNote(ctx, s, all)
}

// Tidy removes notes that have served their time: those that w has seen for the lease of who lost the
// lock.
func Tidy(ctx context.Context, k Keeper, w *watch.Watcher) error {
	return k.OnShelf(ctx, nil, func(s Shelf) error {
		all, err := s.List(ctx)
		return errors.Join(err, Tend(ctx, s, all, w))
	})
}

// Forget removes slips, as with their lock.
func Forget(ctx context.Context, s Shelf, some []Slip) error {
	for _, one := range some {
		if err := s.Remove(ctx, "remove "+one.what(), one); err != nil {
			return err
		}
	}
	return nil
}

func (s Slip) what() string {
	if s.Note.ID != "" {
		return "a note"
	}
	return "an older success"
}

// Texts are the slips of a kind whose place keeps them all in one transaction, by their names. It
// implements Shelf.
type Texts map[string]Text

// A Text is one slip there.
type Text struct {
	Text string
	At   time.Time
}

// List implements Shelf.
func (all *Texts) List(context.Context) (slips []Slip, _ error) {
	for name, t := range *all {
		if note, ok := ParseNote(name); ok {
			slips = append(slips, note)
		} else if name == successName {
			slips = append(slips, Slip{Name: name, Number: 1, At: t.At})
		}
	}
	slices.SortFunc(slips, func(s, t Slip) int { return strings.Compare(s.Name, t.Name) })
	return slips, nil
}

// Now implements Shelf.
func (all *Texts) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Read implements Shelf.
func (all *Texts) Read(_ context.Context, _ string, s *Slip) error {
	s.Text = (*all)[s.Name].Text
	return nil
}

// Write implements Shelf.
func (all *Texts) Write(_ context.Context, _ string, s *Slip) error {
	if *all == nil {
		*all = Texts{}
	}
	(*all)[s.Name] = Text{s.Text, time.Now()}
	return nil
}

// Remove implements Shelf.
func (all *Texts) Remove(_ context.Context, _ string, s Slip) error {
	delete(*all, s.Name)
	return nil
}
