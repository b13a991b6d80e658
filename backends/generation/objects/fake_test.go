package objects

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/faulty"
)

// A bucket is objects in memory.
type bucket struct {
	mu       sync.Mutex
	objects  map[string]stored
	requests map[string]int // by their names
}

// A fake is a Store in memory, as strict as the best stores.
type fake struct {
	*bucket
	before faulty.Hook
}

type stored struct {
	content  []byte
	tag      int
	modified time.Time
}

// counted returns how many requests there were, and starts to count anew.
func (f *fake) counted() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.requests
	f.requests = map[string]int{}
	return all
}

func newFake() *fake {
	return &fake{&bucket{objects: map[string]stored{}, requests: map[string]int{}}, nil}
}

func (f *fake) do(what, key string, do func() error) error {
	f.mu.Lock()
	f.requests[what]++
	before := f.before
	f.mu.Unlock()
	return before.Make(what, key, "", func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		return do()
	})
}

func (f *fake) put(key string, content []byte) error {
	f.objects[key] = stored{bytes.Clone(content), f.objects[key].tag + 1, time.Now()}
	return nil
}

func (f *fake) object(key string) (Object, error) {
	s, ok := f.objects[key]
	if !ok {
		return Object{}, ErrAbsent
	}
	return Object{Key: key, Tag: fmt.Sprint(s.tag, len(s.content)), Modified: s.modified.Truncate(time.Second)}, nil
}

func (f *fake) Create(_ context.Context, key string, content []byte) error {
	return f.do("create", key, func() error {
		if _, err := f.object(key); err == nil {
			return ErrExists
		}
		return f.put(key, content)
	})
}

func (f *fake) Put(_ context.Context, key string, content []byte) error {
	return f.do("put", key, func() error { return f.put(key, content) })
}

func (f *fake) Get(_ context.Context, key string) (o Object, content []byte, err error) {
	err = f.do("get", key, func() (err error) {
		o, err = f.object(key)
		content = bytes.Clone(f.objects[key].content)
		return err
	})
	return o, content, err
}

func (f *fake) Head(_ context.Context, key string) (o Object, err error) {
	err = f.do("head", key, func() (err error) {
		if o, err = f.object(key); err != nil {
			err = notFound()
		}
		return err
	})
	return o, err
}

// notFound is an answer 404 that need not be the store's.
func notFound() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: "s3://bucket/lock", Op: "ask", Err: ErrNotFound}
}

func (f *fake) Delete(_ context.Context, key string) error {
	return f.do("delete", key, func() error {
		delete(f.objects, key)
		return nil
	})
}

func (f *fake) List(context.Context) (all []Object, err error) {
	err = f.do("list", "", func() error {
		for _, key := range f.keys() {
			o, _ := f.object(key)
			all = append(all, o)
		}
		return nil
	})
	return all, err
}

func (f *fake) keys() []string { return slices.Sorted(maps.Keys(f.objects)) }
