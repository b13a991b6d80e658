//go:build unix

package sftp

import (
	"context"
	"errors"
	"io/fs"

	"locksmith/backends/finder"
	"locksmith/backends/generation/symlinks"
)

// Search implements finder.Place.
func (l *lock) Search(ctx context.Context) (finder.Search, error) {
	u := l.use(0)
	_, err := u.dir.connected(ctx)
	return finder.Search{Tree: walked{u.dir}, Depth: 1, Close: u.close,
		Kind: u.algorithm.Kind(func(path string) symlinks.Dir { return newSymlinkDir(u.dir.below("."+path), false) })}, err
}

// walked is the tree below a lock's path. It implements finder.Tree.
type walked struct{ *symlinkDir }

// List implements finder.Tree.
func (w walked) List(ctx context.Context, path string) ([]finder.Entry, error) {
	all, err := w.list(ctx, "."+path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path != "":
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, w.failed("list "+w.shown("."+path), err)
	}
	entries := make([]finder.Entry, len(all))
	for i, item := range all {
		entries[i].Name = item.name
		switch {
		case item.attrs.is(modeDir):
			entries[i].Type = finder.Subdirectory
		case item.attrs.is(modeFile):
			entries[i].Type = finder.RegularFile
		}
	}
	return entries, nil
}
