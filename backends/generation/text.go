package generation

import "context"

// Texts are kept beside the reservations, and are no part of the lock: notes of breaks by hand,
// and successes. Each name carries the id of an acquisition. op is what a call is for, for its
// error.
type Texts interface {
	// Read returns a text, which may be empty if there is none.
	Read(ctx context.Context, op, name string) (string, error)
	Write(ctx context.Context, op, name, text string) error
	// Remove removes a text. One that is gone is no error.
	Remove(ctx context.Context, op, name string) error
}
