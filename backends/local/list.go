package local

import (
	"context"
	"errors"
	"io/fs"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/owner"
)

// List implements backend.Backend. Files with a pid alone and empty ones, of other tools,
// are locks to it, too.
func (l *Lock) List(ctx context.Context, listing backend.Listing) error {
	w := finder.Walk{
		Tree:    finder.FileTree{Root: l.path, Address: string(l.address)},
		Files:   []finder.FileKind{kind{l, owner.Here(), true}},
		Listing: listing,
	}
	return w.Run(ctx)
}

// Kind knows the locks below a directory that are lock files of ours.
func Kind(dir string) finder.FileKind {
	place := backend.Address{Scheme: Scheme, Path: dir}
	return kind{&Lock{address: backend.Name(place.String()), path: dir}, owner.Here(), false}
}

type kind struct {
	place  *Lock // as if the directory were one
	here   owner.Place
	others bool // a file with a pid alone, or an empty one, is a lock, too
}

// File implements finder.FileKind. Our files are told from those of link: by their
// mark.
func (k kind) File(_ context.Context, in *finder.Directory, name string, content func() finder.Content) finder.Answer {
	if !k.ours(content()) {
		return finder.Answer{}
	}
	l := *k.place
	path := in.Path + "/" + name
	l.address, l.path = backend.Name(backend.Below(string(l.address), path)), l.path+path
	r, err := l.inspect(k.here)
	if err == nil && len(r.Holders) == 0 {
		return finder.Answer{Mine: true} // it has just gone
	}
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.address), Report: r, Err: err}, Mine: true}
}

func (k kind) ours(seen finder.Content) bool {
	c := parse(seen.Text)
	switch {
	case errors.Is(seen.Err, fs.ErrPermission):
		return seen.Marked
	case seen.Err != nil:
		return false
	case seen.Marked: // without a record its maker has not finished it
		return c.Record != nil || c.PID != 0 || seen.Text == ""
	}
	return (c.PID != 0 || seen.Text == "") && k.others
}
