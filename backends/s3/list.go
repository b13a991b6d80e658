package s3

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"locksmith/backends/backend"
	"locksmith/backends/generation/objects"
)

// List implements backend.Backend. A bucket has no directories. So List lists all keys below the
// prefix, and those that only locks have tell where locks are.
func (l *lock) List(ctx context.Context, listing backend.Listing) error {
	places := map[string]bool{} // prefixes of locks, relative to ours
	var kept backend.Haul       // bounds what is kept; all that belongs to no lock passes by
	err := store{l.bucket, l.path}.pages(ctx, func(page []types.Object) error {
		for _, o := range page {
			dir, name := path.Split(strings.TrimPrefix(aws.ToString(o.Key), l.path))
			if !objects.IsPart(name) || listing.Depth > 0 && strings.Count(dir, "/") > listing.Depth || places[dir] {
				continue
			}
			places[dir] = true
			if err := kept.Take(1, len(dir)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(places)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		address := string(l.Address.Below(strings.TrimSuffix("/"+dir, "/")))
		r, err := l.bucket.lock(address, l.path+dir).Inspect(ctx)
		listing.Tell(backend.Listed{Lock: address, Report: r, Err: err})
	}
	return nil
}
