package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/generation/objects"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

const otherStore = "choose another store, or a newer version of this one: locks are not safe there"

// An examiner tries out requests on objects of its own. They are below the lock's prefix, which
// may be the only place that is allowed.
type examiner struct {
	doctor.Examiner
	store
	rounds int
	// progress, if not nil, is told how far a long check is.
	progress func(string)
}

// Examine implements backend.Backend.
func (l *lock) Examine(ctx context.Context, e backend.Examination, tell backend.Tell) error {
	s := scratch{store{l.bucket, l.path}, "d." + owner.NewID()}
	x := &examiner{doctor.Examiner{Tell: tell, Place: s, Thing: "object", Prefix: s.dir + ".", Fail: asItIs}, s.store, e.Rounds, e.Progress}
	defer func() {
		if len(x.Made) > 0 {
			x.Clean(ctx, s.dir, "what begins with "+s.prefix+s.dir)
		}
	}()
	return doctor.Run(ctx, x.reach, x.write, x.condition, x.clock, x.listing, x.freshness, x.settings, x.race)
}

// A scratch is the objects of an examination: a doctor.Place with one directory, in which a name
// is part of a key.
type scratch struct {
	store
	dir string
}

func (s scratch) key(name string) string { return strings.ReplaceAll(name, "/", ".") }

// Make implements doctor.Place.
func (s scratch) Make(ctx context.Context, name string) error { return s.Put(ctx, s.key(name), nil) }

// Remove implements doctor.Place. The directory is gone if nothing is in it.
func (s scratch) Remove(ctx context.Context, name string) error {
	if name != s.dir {
		return s.Delete(ctx, s.key(name))
	}
	names, err := s.List(ctx, s.dir)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%w: %d objects", fs.ErrExist, len(names))
	}
	return err
}

// List implements doctor.Place. Nothing around the directory matters.
func (s scratch) List(ctx context.Context, dir string) (names []string, err error) {
	if dir != s.dir && dir != "." { // an object has nothing in it
		return nil, nil
	}
	all, err := s.store.List(ctx)
	for _, o := range all {
		if name, ours := strings.CutPrefix(o.Key, s.dir+"."); ours {
			names = append(names, name)
		}
	}
	if dir == "." && len(names) > 0 {
		names = []string{s.dir}
	}
	return names, err
}

// asItIs: a store's errors say what was tried.
func asItIs(_ string, err error) error { return err }

// unfit tells of a request that the store refuses; one without an answer is an error.
func (x *examiner) unfit(name string, err error) error {
	if e, ok := errors.AsType[*backend.Error](err); ok && e.Code != protocol.Unreachable {
		x.Tell.Refusal(name, err)
		return doctor.ErrEnough
	}
	return err
}

func (x *examiner) reach(ctx context.Context) error {
	const name = "bucket"
	if _, err := x.List(ctx); err != nil {
		return x.unfit(name, err)
	}
	x.Tell.Fit(name, "it can be listed by these credentials")
	return nil
}

// write tries the requests that locks need, without a rival.
func (x *examiner) write(ctx context.Context) error {
	const name = "objects"
	key, content := x.Fresh(), []byte("one")
	if err := x.Put(ctx, key, content); err != nil {
		return x.unfit(name, err)
	}
	_, got, err := x.Get(ctx, key)
	if err != nil && !errors.Is(err, objects.ErrAbsent) {
		return x.unfit(name, err)
	}
	_, looked := x.Head(ctx, key)
	if err := x.Delete(ctx, key); err != nil {
		return x.unfit(name, err)
	}
	_, _, gone := x.Get(ctx, key)
	switch {
	case err != nil, looked != nil, !bytes.Equal(got, content):
		x.Tell.Unfit(name, "what was written is not there, or reads otherwise", otherStore)
		return doctor.ErrEnough
	case errors.Is(gone, objects.ErrNotFound):
		x.Tell.Unfit(name, "the answer about an object that is not there lacks the store's word for it, NoSuchKey: it may be anybody's, and proves nothing",
			"look at what is between here and the store; if that is nothing, choose another store")
		return doctor.ErrEnough
	case gone != nil && !errors.Is(gone, objects.ErrAbsent):
		return x.unfit(name, gone)
	case gone == nil:
		x.Tell.Unfit(name, "what was removed is still there", "let these credentials delete objects, and switch object locks off for the prefix")
		return doctor.ErrEnough
	}
	x.Tell.Fit(name, "one was written, read, looked at and removed")
	return nil
}

// condition checks that the store refuses the second creation of the same object.
func (x *examiner) condition(ctx context.Context) error {
	const name = "conditional creation"
	key := x.Fresh()
	if err := x.Create(ctx, key, []byte("first")); err != nil {
		return x.unfit(name, err)
	}
	err := x.Create(ctx, key, []byte("second"))
	switch {
	case err == nil:
		x.Tell.Unfit(name, "an object that exists was created again: the store ignores the condition, and any number would hold the lock", otherStore)
		return doctor.ErrEnough
	case !errors.Is(err, objects.ErrExists):
		return x.unfit(name, err)
	}
	x.Tell.Fit(name, "the second of two was refused")
	return nil
}

// clock checks our clock: the store refuses what was signed at another time.
func (x *examiner) clock(ctx context.Context) error {
	const name, limit = "clock", 5 * time.Minute
	key := x.Fresh()
	if err := x.Put(ctx, key, nil); err != nil {
		return err
	}
	here := time.Now()
	o, err := x.Head(ctx, key)
	if err != nil {
		return err
	}
	off := o.Modified.Sub(here)
	if off.Abs() > limit {
		x.Tell.Weak(name, fmt.Sprintf("the store's is %v ahead of ours (behind, if negative)", off.Round(time.Second)), "set the clock: from 15 minutes on stores refuse all requests")
		return nil
	}
	x.Clock("store", off, 2*time.Second)
	return nil
}

// listing checks that a listing is in order, complete, and in pages if it is long.
func (x *examiner) listing(ctx context.Context) error {
	const name, n, page = "listing", 7, 3
	prefix := x.Fresh() + "."
	var want, got []string
	for i := range n {
		key := fmt.Sprintf("%s%d", prefix, i)
		if err := x.Put(ctx, key, nil); err != nil {
			return err
		}
		want = append(want, key)
	}
	in := &s3.ListObjectsV2Input{Bucket: x.bucket.name(), Prefix: aws.String(x.store.prefix + prefix), MaxKeys: aws.Int32(page)}
	for range n {
		out, err := ask(ctx, x.bucket, "list objects", func(ctx context.Context, c *s3.Client) (*s3.ListObjectsV2Output, error) {
			return c.ListObjectsV2(ctx, in)
		})
		if err != nil {
			return err
		}
		for _, o := range out.Contents {
			got = append(got, strings.TrimPrefix(aws.ToString(o.Key), x.store.prefix))
		}
		if in.ContinuationToken = out.NextContinuationToken; !aws.ToBool(out.IsTruncated) {
			break
		}
	}
	if !slices.Equal(got, want) {
		x.Tell.Unfit(name, fmt.Sprintf("%d objects in pages of %d were not listed once each and in order", n, page), otherStore)
		return nil
	}
	x.Tell.Fit(name, "complete, in order, and in pages")
	return nil
}

// freshness checks that what was written or removed is so at once, on other connections, too.
func (x *examiner) freshness(ctx context.Context) error {
	const name, rounds = "freshness", 20
	lanes, err := x.lanes(ctx, 2)
	if err != nil {
		return err
	}
	writer, reader := lanes[0], lanes[1]
	for i := range rounds {
		key := x.Fresh()
		content := []byte(fmt.Sprint(i))
		for _, content := range [][]byte{[]byte("old"), content} {
			if err := writer.Put(ctx, key, content); err != nil {
				return err
			}
		}
		_, got, err := reader.Get(ctx, key)
		if err != nil || !bytes.Equal(got, content) {
			return x.old(name, "an object that was just written", err)
		}
		if listed, err := x.lists(ctx, reader, key); err != nil || !listed {
			return x.old(name, "a listing", err)
		}
		if err := writer.Delete(ctx, key); err != nil {
			return err
		}
		_, err = reader.Head(ctx, key)
		if errors.Is(err, objects.ErrNotFound) {
			_, _, err = reader.Get(ctx, key)
		}
		if !errors.Is(err, objects.ErrAbsent) {
			return x.old(name, "an object that was just removed", err)
		}
		if listed, err := x.lists(ctx, reader, key); err != nil || listed {
			return x.old(name, "a listing after a removal", err)
		}
	}
	x.Tell.Fit(name, fmt.Sprintf("%d times what was written or removed was seen at once over another connection", rounds))
	return nil
}

func (x *examiner) lists(ctx context.Context, s store, key string) (bool, error) {
	all, err := s.List(ctx)
	return slices.ContainsFunc(all, func(o objects.Object) bool { return o.Key == key }), err
}

func (x *examiner) old(name, what string, err error) error {
	if err != nil && !errors.Is(err, objects.ErrAbsent) {
		return err
	}
	x.Tell.Unfit(name, what+" was seen as it had been before", otherStore)
	return nil
}
