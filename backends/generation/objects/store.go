package objects

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
)

// A Store is the objects whose keys have one prefix, without which they are given here. Every
// call but List is one request. One that changes something is sent once: the store must not
// repeat it by itself.
//
// An error that is none of those below has the code unreachable (backend.Error) if the
// request may or may not have been executed, or may be executed yet; any other code says
// that the store has refused it. ErrNotFound has that code, too, so that who does not ask for
// it takes it for what it is: not known.
type Store interface {
	// Create writes an object if there is none of that key, else its error is ErrExists.
	Create(ctx context.Context, key string, content []byte) error
	// Put writes an object, whatever is there.
	Put(ctx context.Context, key string, content []byte) error
	// Get reads an object. Its error is ErrAbsent if the store says that there is none.
	Get(ctx context.Context, key string) (Object, []byte, error)
	// Head looks at an object. Its error is ErrNotFound if there is none: the answer does not
	// tell whose it is.
	Head(ctx context.Context, key string) (Object, error)
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error
	// List returns all objects, in the order of their keys.
	List(ctx context.Context) ([]Object, error)
}

// An Object is one, as seen from outside.
type Object struct {
	Key      string
	Tag      string    // changes with the content
	Modified time.Time // by the store's clock, perhaps in whole seconds
}

// What a Store's errors may be.
var (
	ErrExists = errors.New("there is one already")
	// ErrAbsent is the store's own word: only this proves that there is no such object.
	ErrAbsent = errors.New("there is none")
	// ErrNotFound may be the answer of a proxy or a balancer that did not find the store. It
	// is the answer to every Head of what is not there.
	ErrNotFound = errors.New("the answer is 404, and need not be the store's")
)

// unclear reports that a request may or may not have been executed, or may be yet. One whose
// error lasts was not sent.
func unclear(err error) bool { return backend.Passes(err) }

// absent reports that there is no such object, in the store's own word.
func absent(err error) bool { return errors.Is(err, ErrAbsent) }

// unseen reports that an object was not found, whoever says so.
func unseen(err error) bool { return absent(err) || errors.Is(err, ErrNotFound) }

// sure looks at an object, and reads it if it is not found: of what decides something the
// store itself must say that it is not there.
func (l *Lock) sure(ctx context.Context, key string) (Object, error) {
	o, err := l.Store.Head(ctx, key)
	if unseen(err) {
		o, _, err = l.Store.Get(ctx, key)
	}
	return o, err
}
