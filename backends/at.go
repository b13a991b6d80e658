package backends

import (
	"context"
	"path"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
)

// At returns the lock, of whatever kind, that is on a file system at the path of an
// address.
func At(ctx context.Context, address string) (found backend.Listed, ok bool) {
	a, err := backend.ParseAddress(address, Usual().Schemes())
	if err != nil || a.Host != "" {
		return found, false
	}
	dir, name := path.Split(a.Path)
	dir = path.Clean(dir)
	w := finder.Walk{Tree: only{finder.FileTree{Root: dir, Address: backend.EscapePath(dir)}, name}}
	w.Files, w.Directories = treeKinds(dir)
	w.Depth, w.Tell = 1, func(l backend.Listed) {
		if !ok && l.Err == nil {
			found, ok = l, true
		}
	}
	_ = w.Run(ctx)
	return found, ok
}

// only is a tree that shows one entry where it begins.
type only struct {
	finder.FileTree
	name string
}

// List implements finder.Tree.
func (o only) List(ctx context.Context, path string) ([]finder.Entry, error) {
	all, err := o.FileTree.List(ctx, path)
	if path == "" {
		all = slices.DeleteFunc(all, func(e finder.Entry) bool { return e.Name != o.name })
	}
	return all, err
}
