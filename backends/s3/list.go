package s3

import (
	"context"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/generation/objects"
)

// Search implements finder.Place. A bucket has no directories. So all keys below the prefix are listed,
// and those that only locks have tell where locks are.
func (l *lock) Search(context.Context) (finder.Search, error) {
	flat := func(ctx context.Context, tell func(dir string) error) error {
		return store{l.bucket, l.path}.pages(ctx, func(page []types.Object) error {
			for _, o := range page {
				dir, name := path.Split(strings.TrimPrefix(aws.ToString(o.Key), l.path))
				if !objects.IsPart(name) {
					continue
				}
				if err := tell(dir); err != nil {
					return err
				}
			}
			return nil
		})
	}
	look := func(ctx context.Context, f finder.Found) (backend.Report, error) {
		return l.bucket.lock(string(f.Address), l.path+strings.TrimPrefix(f.Path+"/", "/")).Read(ctx)
	}
	return finder.Search{Flat: flat, Kind: finder.Kind{Place: l.Address, Look: look}}, nil
}
