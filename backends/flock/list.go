//go:build unix

package flock

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/flocks"
	"locksmith/backends/owner"
)

// List implements backend.Backend. It takes a file for a lock if somebody has locked it, whatever
// the file holds, or if there is a holder's record in it.
func (l *Lock) List(ctx context.Context, listing backend.Listing) error {
	w := finder.Walk{
		Tree:    finder.FileTree{Root: l.path, Address: string(l.address)},
		Files:   []finder.FileKind{kind{l, owner.Here(), flocks.Snapshot(), true}},
		Listing: listing,
	}
	return w.Run(ctx)
}

// Kind returns this kind of lock for a walk below a directory that looks for locks of all kinds. Only
// a file with a record counts there.
func Kind(dir string) finder.FileKind {
	place := backend.Address{Scheme: Scheme, Path: dir}
	return kind{&Lock{address: place.Name(), path: dir}, owner.Here(), flocks.Snapshot(), false}
}

type kind struct {
	place *Lock // the directory where the walk begins, as if it were a lock
	here  owner.Place
	look  look
	any   bool // a file without a record is a lock, too, while it is locked
}

// File implements finder.FileKind.
func (k kind) File(_ context.Context, in *finder.Directory, name string, content func() finder.Content) finder.Answer {
	l := *k.place
	l.address, l.path = in.Lock(l.address, l.path, name)
	known := recordIn(content().Text) != nil
	switch {
	case !known && !k.isLocked(l.path):
		return finder.Answer{}
	case !known && in.Full():
		return finder.Answer{LeftOut: true, Mine: true}
	}
	r, err := l.report(k.here, k.look)
	r.Success = l.lastSuccess()
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.address), Report: r, Err: err}, Mine: true}
}

func (k kind) isLocked(path string) bool {
	if !k.any {
		return false
	}
	seen, err := k.look(path)
	return err == nil && seen.Held()
}
