//go:build unix

package sftp

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/generation/symlinks"
)

// List implements backend.Backend. It looks one level deep if it is not told otherwise.
func (l *lock) List(ctx context.Context, listing backend.Listing) error {
	u := l.use()
	defer u.close()
	if _, err := u.dir.connected(ctx); err != nil {
		return err
	}
	listing.Depth = cmp.Or(listing.Depth, 1)
	listing.Others = nil // they would be that of nfs:, which is our own form
	w := finder.Walk{
		Tree: walked{u.dir},
		Directories: []finder.DirectoryKind{symlinks.Kind{Place: *u.algorithm,
			At: func(path string) symlinks.Dir { return newSymlinkDir(u.dir.below("."+path), false) }}},
		Listing: listing,
	}
	return w.Run(ctx)
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

// Read implements finder.Tree. No kind of lock on a server asks for it.
func (walked) Read(string) finder.Content { return finder.Content{Err: errors.ErrUnsupported} }
