package local

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

// List implements backend.Backend. Files of other tools, with only a pid or empty, count as
// locks, too.
func (l *Lock) List(ctx context.Context, listing backend.Listing) error {
	place := *l
	place.flocks = flocks.Snapshot()
	w := finder.Walk{
		Tree:    finder.FileTree{Root: l.path, Address: string(l.address)},
		Files:   []finder.FileKind{kind{&place, owner.Here(), true}},
		Listing: listing,
	}
	return w.Run(ctx)
}

// Kind finds the locks below a directory that are lock files of ours.
func Kind(dir string) finder.FileKind {
	place := backend.Address{Scheme: Scheme, Path: dir}
	return kind{&Lock{address: place.Name(), path: dir, flocks: flocks.Snapshot()}, owner.Here(), false}
}

type kind struct {
	place  *Lock // a lock with the path of the directory, to be copied
	here   owner.Place
	others bool // a file with only a pid, or an empty one, counts as a lock, too
}

// File implements finder.FileKind. Our files differ from those of link: by their mark. A file
// with a last success tells of its lock, if that is free.
func (k kind) File(_ context.Context, in *finder.Directory, name string, content func() finder.Content) finder.Answer {
	if of, ok := strings.CutSuffix(name, lockfile.SuccessSuffix); ok && of != "" {
		if _, held := in.Type(of); held {
			return finder.Answer{}
		}
		return k.free(in, of)
	}
	seen := content()
	begun := strings.HasSuffix(name, lockfile.SuccessSuffix+lockfile.UnfinishedSuffix) && seen.Text == "" // a success
	if begun || !k.ours(seen) {
		return finder.Answer{}
	}
	if in.Full() && parse(seen.Text).Record == nil {
		return finder.Answer{LeftOut: true, Mine: true}
	}
	l := k.lock(in, name)
	r, err := l.inspect(k.here)
	if err == nil && len(r.Holders) == 0 {
		return finder.Answer{Mine: true} // it has just gone
	}
	r.Success = l.lastSuccess(time.Now())
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.address), Report: r, Err: err}, Mine: true}
}

// lock is the lock with this name in a directory.
func (k kind) lock(in *finder.Directory, name string) *Lock {
	l := *k.place
	l.address, l.path = in.Lock(l.address, l.path, name)
	return &l
}

// free answers about a lock that nobody holds and a file that may be its last success.
func (k kind) free(in *finder.Directory, name string) finder.Answer {
	l := k.lock(in, name)
	s := l.lastSuccess(time.Now())
	if s == nil {
		return finder.Answer{}
	}
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.address), Report: backend.Report{Crowd: true, Success: s}}, Mine: true}
}

func (k kind) ours(seen finder.Content) bool {
	c := parse(seen.Text)
	switch {
	case errors.Is(seen.Err, fs.ErrPermission):
		return seen.Marked
	case seen.Err != nil:
		return false
	case seen.Marked: // its record may be of a later version; of a part of a record the maker has not finished it
		return c.Record != nil || c.PID != 0 || seen.Text == "" || c.isWhole()
	}
	return (c.PID != 0 || seen.Text == "") && k.others
}
