package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/backends/generation/objects"
	"locksmith/protocol"
)

// A store is the objects of a bucket below a prefix. It implements objects.Store.
type store struct {
	bucket *bucket
	prefix string
}

// maxContent is more than any object of ours has.
const maxContent = 16 << 10

// ask makes one request, with a deadline. If the store refuses our credentials, it has not executed
// the request: ask makes it once more if there are others by now.
func ask[T any](ctx context.Context, b *bucket, op string, request func(context.Context, *s3.Client) (T, error)) (T, error) {
	answer, err := askOnce(ctx, b, op, request)
	if refused, ok := errors.AsType[*answerError](err); ok && refused.isAboutCredentials() && b.keys.renew(ctx) {
		return askOnce(ctx, b, op, request)
	}
	return answer, err
}

func askOnce[T any](ctx context.Context, b *bucket, op string, request func(context.Context, *s3.Client) (T, error)) (T, error) {
	var none T
	client, err := b.client()
	if err != nil {
		return none, err
	}
	limited, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	answer, err := request(limited, client)
	if err != nil {
		return none, b.failed(ctx, op, err)
	}
	return answer, nil
}

// maxLooks is how often a request that changes nothing is sent while the store turns it away.
const maxLooks = 4

// look is ask for a request that changes nothing. It sends the request again, because a store
// that turns some requests away would hardly ever answer all eight that an acquisition takes.
func look[T any](ctx context.Context, b *bucket, op string, request func(context.Context, *s3.Client) (T, error)) (T, error) {
	pauses := backoff.Growth{First: 100 * time.Millisecond, Most: time.Second}
	for looks := 1; ; looks++ {
		answer, err := ask(ctx, b, op, request)
		turnedAway := errors.As(err, new(*answerError)) && backend.Passes(err)
		if !turnedAway || looks == maxLooks || clock.Pause(ctx, pauses.Next()) != nil {
			return answer, err
		}
	}
}

// Create implements objects.Store.
func (s store) Create(ctx context.Context, key string, content []byte) error {
	return s.write(ctx, "create an object", s3.PutObjectInput{Key: aws.String(s.prefix + key), IfNoneMatch: aws.String("*")}, content)
}

// Put implements objects.Store.
func (s store) Put(ctx context.Context, key string, content []byte) error {
	return s.write(ctx, "write an object", s3.PutObjectInput{Key: aws.String(s.prefix + key)}, content)
}

func (s store) write(ctx context.Context, op string, in s3.PutObjectInput, content []byte) error {
	in.Bucket = s.bucket.name()
	out, err := ask(ctx, s.bucket, op, func(ctx context.Context, c *s3.Client) (*s3.PutObjectOutput, error) {
		in.Body = bytes.NewReader(content) // the library has read the last one to its end
		return c.PutObject(ctx, &in)
	})
	if err == nil && out.ETag == nil {
		return s.bucket.foreign(op)
	}
	return s.bucket.elsewhere(op, err)
}

// elsewhere is the error of a request that is not about an object that may be missing. If the
// answer says that something is missing, it is not the store's.
func (b *bucket) elsewhere(op string, err error) error {
	if errors.Is(err, objects.ErrAbsent) {
		return b.notFound(op, &answerError{})
	}
	return err
}

// Get implements objects.Store.
func (s store) Get(ctx context.Context, key string) (objects.Object, []byte, error) {
	var content []byte
	in := &s3.GetObjectInput{Bucket: s.bucket.name(), Key: aws.String(s.prefix + key)}
	out, err := look(ctx, s.bucket, "read an object", func(ctx context.Context, c *s3.Client) (*s3.GetObjectOutput, error) {
		out, err := c.GetObject(ctx, in)
		if err == nil {
			defer out.Body.Close()
			content, err = io.ReadAll(io.LimitReader(out.Body, maxContent))
		}
		return out, err
	})
	if err == nil && out.ETag == nil && out.LastModified == nil {
		err = s.bucket.foreign("read an object")
	}
	if err != nil {
		return objects.Object{}, nil, err
	}
	o := object(key, out.ETag, out.LastModified)
	o.Now, _ = awsmiddleware.GetServerTime(out.ResultMetadata) // of the header Date
	return o, content, nil
}

// Head implements objects.Store. The answer to a HEAD has no body, so a refusal does not say why: an
// expired token may be a 400 without a word. A GET is told.
func (s store) Head(ctx context.Context, key string) (objects.Object, error) {
	in := &s3.HeadObjectInput{Bucket: s.bucket.name(), Key: aws.String(s.prefix + key)}
	out, err := look(ctx, s.bucket, "look at an object", func(ctx context.Context, c *s3.Client) (*s3.HeadObjectOutput, error) { return c.HeadObject(ctx, in) })
	if refused, ok := errors.AsType[*answerError](err); ok && refused.isBare() && !backend.Passes(err) {
		o, _, err := s.Get(ctx, key)
		return o, err
	}
	if err == nil && out.ETag == nil && out.LastModified == nil {
		err = s.bucket.foreign("look at an object")
	}
	if err != nil {
		return objects.Object{}, err
	}
	return object(key, out.ETag, out.LastModified), nil
}

// Delete implements objects.Store.
func (s store) Delete(ctx context.Context, key string) error {
	in := &s3.DeleteObjectInput{Bucket: s.bucket.name(), Key: aws.String(s.prefix + key)}
	const op = "remove an object"
	out, err := ask(ctx, s.bucket, op, func(ctx context.Context, c *s3.Client) (*s3.DeleteObjectOutput, error) {
		return c.DeleteObject(ctx, in)
	})
	switch {
	case errors.Is(err, objects.ErrAbsent): // most stores answer that it is done
		return nil
	case err == nil && !isStores(out.ResultMetadata):
		return s.bucket.foreign(op)
	}
	return err
}

// isStores reports whether a success without content is the store's: it is 204 by the protocol,
// or it names the request, as stores do.
func isStores(m middleware.Metadata) bool {
	r, ok := awsmiddleware.GetRawResponse(m).(*smithyhttp.Response)
	_, named := awsmiddleware.GetRequestIDMetadata(m)
	return named || ok && r.StatusCode == http.StatusNoContent
}

// List implements objects.Store.
func (s store) List(ctx context.Context) (all []objects.Object, err error) {
	haul := backend.NewHaul()
	err = s.pages(ctx, func(page []types.Object) error {
		for _, o := range page {
			all = append(all, object(strings.TrimPrefix(aws.ToString(o.Key), s.prefix), o.ETag, o.LastModified))
			if err := haul.Take(1, len(aws.ToString(o.Key))+len(aws.ToString(o.ETag))); err != nil {
				return err
			}
		}
		return haul.Take(0, 0)
	})
	return all, err
}

// maxPages bounds a listing that a store would never end.
const maxPages = 10_000

// pages lists all that is below the prefix, a request for each page, until tell has an error.
func (s store) pages(ctx context.Context, tell func([]types.Object) error) error {
	const op = "list objects"
	in := &s3.ListObjectsV2Input{Bucket: s.bucket.name(), Prefix: aws.String(s.prefix)}
	for range maxPages {
		out, err := look(ctx, s.bucket, op, func(ctx context.Context, c *s3.Client) (*s3.ListObjectsV2Output, error) {
			return c.ListObjectsV2(ctx, in)
		})
		if err != nil {
			return s.bucket.elsewhere(op, err)
		}
		if len(out.Contents) == 0 && out.Name == nil && out.Prefix == nil && out.KeyCount == nil && out.IsTruncated == nil {
			return s.bucket.foreign(op)
		}
		if err := tell(out.Contents); err != nil {
			return s.bucket.tooLong(op, err)
		}
		if !aws.ToBool(out.IsTruncated) {
			return nil
		}
		if in.ContinuationToken = out.NextContinuationToken; aws.ToString(in.ContinuationToken) == "" {
			break
		}
	}
	return s.bucket.fail(protocol.CannotCreate, op, errors.New("the listing does not come to an end"), "choose another store")
}

func object(key string, tag *string, modified *time.Time) objects.Object {
	return objects.Object{Key: key, Tag: aws.ToString(tag), Modified: aws.ToTime(modified)}
}
