package objects

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// A Store is the objects whose keys have one prefix, without which they are given here. Every
// call but List is one request, which is sent once: the store must not repeat it by itself.
//
// An error that is none of those below has the code unreachable (backend.Error) if the
// request may or may not have been executed, or may be executed yet; any other code says
// that the store has refused it.
type Store interface {
	// Create writes an object if there is none of that key, else its error is ErrExists.
	Create(ctx context.Context, key string, content []byte) error
	// Put writes an object, whatever is there.
	Put(ctx context.Context, key string, content []byte) error
	// Get reads an object. Its error is ErrAbsent if there is none.
	Get(ctx context.Context, key string) (Object, []byte, error)
	// Head looks at an object. Its error is ErrAbsent if there is none.
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
	ErrAbsent = errors.New("there is none")
)

// unclear reports that a request may or may not have been executed, or may be yet.
func unclear(err error) bool { return backend.CodeOf(err) == protocol.Unreachable }

// absent reports that there is no such object.
func absent(err error) bool { return errors.Is(err, ErrAbsent) }
