//go:build unix

package actors

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
	"locksmith/test/explorer/steps"
)

// Objects is the store in which the objects of a lock are.
func (e Env) Objects() objects.Store { return bucket{e.runner} }

// trialPrefix begins the keys of objects that never exist.
const trialPrefix = "x."

type bucket struct{ r *runner }

// Create implements objects.Store.
func (b bucket) Create(_ context.Context, key string, content []byte) error {
	return b.write(steps.OpPutNew, key, content)
}

// Put implements objects.Store.
func (b bucket) Put(_ context.Context, key string, content []byte) error {
	return b.write(steps.OpPut, key, content)
}

func (b bucket) write(kind steps.OpKind, key string, content []byte) error {
	return outcomeOf(b.r.ask(steps.Op{Kind: kind, Name: b.r.text(key), To: b.r.text(string(content))}))
}

// Delete implements objects.Store. An object that never exists may be removed at any moment,
// without a step.
func (b bucket) Delete(_ context.Context, key string) error {
	if strings.HasPrefix(key, trialPrefix) {
		return nil
	}
	return outcomeOf(b.r.ask(steps.Op{Kind: steps.OpDelete, Name: b.r.text(key)}))
}

// Head implements objects.Store. Its answer does not tell whether it comes from the store.
func (b bucket) Head(_ context.Context, key string) (objects.Object, error) {
	v, err := b.look(steps.OpHead, key)
	if errors.Is(err, objects.ErrAbsent) {
		err = outcomeOf(steps.Failed(unix.ENXIO))
	}
	return b.object(v), err
}

// Get implements objects.Store.
func (b bucket) Get(_ context.Context, key string) (objects.Object, []byte, error) {
	v, err := b.look(steps.OpGet, key)
	return b.object(v), []byte(b.r.names.Texts[v.Content]), err
}

func (b bucket) look(kind steps.OpKind, key string) (steps.View, error) {
	r := b.r.ask(steps.Op{Kind: kind, Name: b.r.text(key)})
	if err := outcomeOf(r); err != nil {
		return steps.View{}, err
	}
	return b.r.names.Views[r.Value], nil
}

// List implements objects.Store. It makes a request for each page.
func (b bucket) List(context.Context) ([]objects.Object, error) {
	var all []objects.Object
	for after, more := steps.Text(0), true; more; {
		r := b.r.ask(steps.Op{Kind: steps.OpList, Name: after})
		if err := outcomeOf(r); err != nil {
			return nil, err
		}
		var page []steps.Text
		page, more = b.r.names.Page(r)
		for _, id := range page {
			v := b.r.names.Views[id]
			all, after = append(all, b.object(v)), v.Born
		}
	}
	return all, nil
}

// object is what a look shows. Equal contents have equal tags, and times are in whole seconds.
func (b bucket) object(v steps.View) objects.Object {
	return objects.Object{Key: b.r.names.Texts[v.Born], Tag: strconv.Itoa(int(v.Content)),
		Modified: epoch.Add(time.Duration(v.Stamp) * time.Millisecond).Truncate(time.Second)}
}

func outcomeOf(r steps.Reply) error {
	switch r.Err {
	case 0:
		return nil
	case unix.EEXIST:
		return objects.ErrExists
	case unix.ENOENT:
		return objects.ErrAbsent
	}
	var why error = r.Err
	if r.Err == unix.ENXIO {
		why = objects.ErrNotFound
	}
	return &backend.Error{Code: protocol.Unreachable, Lock: "s3://bucket/lock", Op: "ask", Err: why}
}
