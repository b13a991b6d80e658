//go:build unix

package symlinks

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
)

// Kind knows the lock directories below a place, which is as if it were a lock itself. at is the
// directory at a path of the walk.
func (l *Lock) Kind(at func(path string) Dir) finder.Kind {
	return finder.Kind{Place: l.Address, Form: Form(), Look: func(ctx context.Context, f finder.Found) (backend.Report, error) {
		found := *l
		found.Dir, found.Address, found.Use = at(f.Path), f.Address, nil
		return found.Read(ctx)
	}}
}
