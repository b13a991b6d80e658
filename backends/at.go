package backends

import (
	"context"
	"path"

	"locksmith/backends/backend"
)

// At returns the lock, of whatever kind, that is on a file system at the path of an
// address.
func At(ctx context.Context, address string) (found backend.Listed, ok bool) {
	a, err := backend.ParseAddress(address, Usual().Schemes())
	if err != nil || a.Host != "" {
		return found, false
	}
	dir, name := path.Split(a.Path)
	w := tree(ctx, dir, backend.Listing{Depth: 1, Tell: func(l backend.Listed) {
		if !ok && l.Err == nil {
			found, ok = l, true
		}
	}})
	w.Only = name
	_ = w.Run(ctx)
	return found, ok
}
