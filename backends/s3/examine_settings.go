package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// settings looks at what the bucket does with objects by itself.
func (x *examiner) settings(ctx context.Context) error {
	for _, look := range []func(context.Context) error{x.versioning, x.lifecycle, x.objectLock} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (x *examiner) versioning(ctx context.Context) error {
	const name = "versioning"
	out, err := ask(ctx, x.bucket, "read the bucket's versioning", func(ctx context.Context, c *s3.Client) (*s3.GetBucketVersioningOutput, error) {
		return c.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: x.bucket.name()})
	})
	if known, err := x.known(ctx, name, "s3:GetBucketVersioning", err); !known {
		return err
	}
	if out != nil && out.Status == types.BucketVersioningStatusEnabled {
		x.Tell.Weak(name, "it is on: each heartbeat and each removal leaves an old version, which is paid for",
			"use a bucket without it, or let a lifecycle rule expire noncurrent versions and expired delete markers below the prefix after a day")
		return nil
	}
	x.Tell.Fit(name, "the store shows it as off")
	return nil
}

func (x *examiner) lifecycle(ctx context.Context) error {
	const name = "lifecycle"
	out, err := ask(ctx, x.bucket, "read the bucket's lifecycle rules", func(ctx context.Context, c *s3.Client) (*s3.GetBucketLifecycleConfigurationOutput, error) {
		return c.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: x.bucket.name()})
	})
	if known, err := x.known(ctx, name, "s3:GetLifecycleConfiguration", err); !known {
		return err
	}
	if out != nil {
		for _, rule := range out.Rules {
			if rule.Status == types.ExpirationStatusEnabled && expires(rule) && x.concerns(rule) {
				x.Tell.Unfit(name, fmt.Sprintf("rule %s removes objects by age: a lock that is held for longer is lost, and fencing tokens begin again", backend.Quoted(aws.ToString(rule.ID))),
					"let the rule leave out the prefix "+x.store.prefix)
				return nil
			}
		}
	}
	x.Tell.Fit(name, "the store shows no rule that removes objects below the prefix by age")
	return nil
}

// expires reports whether a rule removes what is current. A rule for delete markers alone does
// not.
func expires(r types.LifecycleRule) bool {
	return r.Expiration != nil && (r.Expiration.Days != nil || r.Expiration.Date != nil)
}

// concerns reports whether a rule may be about objects of the lock. Those have no tags, and
// sizes exclude few.
func (x *examiner) concerns(r types.LifecycleRule) bool {
	//lint:ignore SA1019 old rules still have their prefix there, and would else seem to be about everything
	prefix := aws.ToString(r.Prefix)
	if f := r.Filter; f != nil {
		if f.Tag != nil || f.And != nil && len(f.And.Tags) > 0 {
			return false
		}
		prefix += aws.ToString(f.Prefix)
		if f.And != nil {
			prefix += aws.ToString(f.And.Prefix)
		}
	}
	return strings.HasPrefix(x.store.prefix, prefix) || strings.HasPrefix(prefix, x.store.prefix)
}

func (x *examiner) objectLock(ctx context.Context) error {
	const name = "object lock"
	out, err := ask(ctx, x.bucket, "read the bucket's object lock", func(ctx context.Context, c *s3.Client) (*s3.GetObjectLockConfigurationOutput, error) {
		return c.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: x.bucket.name()})
	})
	if known, err := x.known(ctx, name, "s3:GetBucketObjectLockConfiguration", err); !known {
		return err
	}
	if out != nil && out.ObjectLockConfiguration != nil && out.ObjectLockConfiguration.Rule != nil {
		x.Tell.Weak(name, "it keeps every object for a while: the versions that heartbeats leave cannot be removed, and are paid for",
			"use a bucket without a default retention")
		return nil
	}
	x.Tell.Fit(name, "the store shows no default retention")
	return nil
}

// known reports whether a setting was read, or the store has no such setting. Else known has
// told why not. Locks work without an answer, so the examination goes on, unless ctx has ended.
func (x *examiner) known(ctx context.Context, name, right string, err error) (bool, error) {
	var answer *answerError
	var missing missingError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &answer) && hasNone(answer), errors.As(err, &missing):
		return true, nil
	case backend.CodeOf(err) == protocol.Permission:
		x.Tell.Unknown(name, "these credentials may not read it", "let them, with "+right+", or look yourself")
		return false, nil
	}
	if ctx.Err() != nil {
		return false, err
	}
	x.Tell.Unknown(name, backend.Reason(err), "look yourself, if the store has such a setting")
	return false, nil
}

// hasNone reports whether a bucket has no such setting, or the store does not know it.
func hasNone(a *answerError) bool {
	return !a.isAboutCredentials() &&
		(a.status == http.StatusNotImplemented || a.status == http.StatusMethodNotAllowed || a.status == http.StatusBadRequest)
}
