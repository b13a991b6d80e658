package objects

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
)

// A Store is the objects whose keys have one prefix. Keys are given here without it. Every call
// but List is one request. One that changes something is sent once: the store must not repeat it
// by itself.
//
// An error that is none of those below has the code unreachable (backend.Error) if the request
// may or may not have been executed, or may be executed yet. Any other code says that the store
// has refused the request. ErrNotFound has the code unreachable, too, so a caller that does not
// ask for ErrNotFound takes it for what it is: unknown.
type Store interface {
	// Create writes an object if there is none of that key, else its error is ErrExists.
	Create(ctx context.Context, key string, content []byte) error
	// Put writes an object, whatever is there.
	Put(ctx context.Context, key string, content []byte) error
	// Get reads an object. Its error is ErrAbsent if the store says that there is none.
	Get(ctx context.Context, key string) (Object, []byte, error)
	// Head looks at an object. Its error is ErrNotFound if there is none: nobody can tell who
	// sent that answer.
	Head(ctx context.Context, key string) (Object, error)
	// Delete removes an object. It is no error if there is none.
	Delete(ctx context.Context, key string) error
	// List returns all objects, in the order of their keys.
	List(ctx context.Context) ([]Object, error)
}

// An Object is one, as seen from outside.
type Object struct {
	Key      string
	Tag      string    // changes with the content
	Modified time.Time // by the store's clock, perhaps in whole seconds
	Now      time.Time // when Get had it, by the store's clock; zero: not told
}

// What a Store's errors may be.
var (
	ErrExists = errors.New("there is one already")
	// ErrAbsent is the store's own word: only this proves that there is no such object.
	ErrAbsent = errors.New("there is none")
	// ErrNotFound may be the answer of a proxy or a balancer that did not find the store. Every
	// Head of an object that is not there gets it.
	ErrNotFound = errors.New("the answer is 404, and need not be the store's")
)

// unclear reports whether a request may or may not have been executed, or may be yet. A request
// whose error lasts was not sent.
func unclear(err error) bool { return backend.Passes(err) }

// absent reports whether the store itself says that there is no such object.
func absent(err error) bool { return errors.Is(err, ErrAbsent) }

// unseen reports whether an object was not found, whoever says so.
func unseen(err error) bool { return absent(err) || errors.Is(err, ErrNotFound) }

// sure looks at an object, and reads it if it is not found: if something depends on it, the
// store itself must say that the object is not there.
func (l *Lock) sure(ctx context.Context, key string) (Object, error) {
	o, err := l.Store.Head(ctx, key)
	if unseen(err) {
		//rule:ask
		o, _, err = l.Store.Get(ctx, key)
	}
	return o, err
}
