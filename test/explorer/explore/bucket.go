package explore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation/objects"
	"locksmith/protocol"
)

// Objects is the store in which the objects of a lock are.
func (e Env) Objects() objects.Store { return bucket{e.runner} }

// trialPrefix begins the keys of objects that never exist.
const trialPrefix = "x."

type bucket struct{ r *runner }

// Create implements objects.Store.
func (b bucket) Create(_ context.Context, key string, content []byte) error {
	return b.write(opPutNew, key, content)
}

// Put implements objects.Store.
func (b bucket) Put(_ context.Context, key string, content []byte) error {
	return b.write(opPut, key, content)
}

func (b bucket) write(kind opKind, key string, content []byte) error {
	return outcomeOf(b.r.ask(op{kind: kind, name: b.r.text(key), to: b.r.text(string(content))}))
}

// Delete implements objects.Store. An object that never exists may be removed at any moment,
// without a step.
func (b bucket) Delete(_ context.Context, key string) error {
	if strings.HasPrefix(key, trialPrefix) {
		return nil
	}
	return outcomeOf(b.r.ask(op{kind: opDelete, name: b.r.text(key)}))
}

// Head implements objects.Store. Its answer does not tell whether it comes from the store.
func (b bucket) Head(_ context.Context, key string) (objects.Object, error) {
	v, err := b.look(opHead, key)
	if errors.Is(err, objects.ErrAbsent) {
		err = outcomeOf(failed(unix.ENXIO))
	}
	return b.object(v), err
}

// Get implements objects.Store.
func (b bucket) Get(_ context.Context, key string) (objects.Object, []byte, error) {
	v, err := b.look(opGet, key)
	return b.object(v), []byte(b.r.names.texts[v.content]), err
}

func (b bucket) look(kind opKind, key string) (view, error) {
	r := b.r.ask(op{kind: kind, name: b.r.text(key)})
	if err := outcomeOf(r); err != nil {
		return view{}, err
	}
	return b.r.names.views[r.value], nil
}

// List implements objects.Store. It makes a request for each page.
func (b bucket) List(context.Context) ([]objects.Object, error) {
	var all []objects.Object
	for after, more := text(0), true; more; {
		r := b.r.ask(op{kind: opList, name: after})
		if err := outcomeOf(r); err != nil {
			return nil, err
		}
		var page []text
		page, more = b.r.names.page(r)
		for _, id := range page {
			v := b.r.names.views[id]
			all, after = append(all, b.object(v)), v.born
		}
	}
	return all, nil
}

// object is what a look shows. Equal contents have equal tags, and times are in whole seconds.
func (b bucket) object(v view) objects.Object {
	return objects.Object{Key: b.r.names.texts[v.born], Tag: strconv.Itoa(int(v.content)),
		Modified: epoch.Add(time.Duration(v.stamp) * time.Millisecond).Truncate(time.Second)}
}

func outcomeOf(r reply) error {
	switch r.err {
	case 0:
		return nil
	case unix.EEXIST:
		return objects.ErrExists
	case unix.ENOENT:
		return objects.ErrAbsent
	}
	var why error = r.err
	if r.err == unix.ENXIO {
		why = objects.ErrNotFound
	}
	return &backend.Error{Code: protocol.Unreachable, Lock: "s3://bucket/lock", Op: "ask", Err: why}
}
