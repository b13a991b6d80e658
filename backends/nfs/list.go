//go:build unix

package nfs

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/nfs/generation"
)

// List implements backend.Backend.
func (l *lock) List(ctx context.Context, listing backend.Listing) error {
	w := finder.Walk{
		Tree:        finder.FileTree{Root: l.path, Address: l.Address},
		Directories: []finder.DirectoryKind{kind{l}},
		Listing:     listing,
	}
	return w.Run(ctx)
}

// Kind knows the locks below a directory that are lock directories of nfs:.
func Kind(dir string) finder.DirectoryKind {
	return kind{newLock(backend.Address{Scheme: Scheme, Path: dir})}
}

type kind struct {
	place *lock // as if the directory were one
}

// Beside implements finder.DirectoryKind: nothing of a lock is beside it.
func (kind) Beside(context.Context, *finder.Directory, string) finder.Answer { return finder.Answer{} }

// Directory implements finder.DirectoryKind.
func (k kind) Directory(ctx context.Context, d, _ *finder.Directory) finder.Answer {
	if !d.HasDirectory(generation.Generations) || !d.HasDirectory(generation.Reservations) {
		return finder.Answer{}
	}
	l := k.place.Lock
	l.Dir, l.Address = &directory{path: k.place.path + d.Path}, backend.Below(l.Address, d.Path)
	r, err := l.Inspect(ctx)
	return finder.Answer{Lock: &backend.Listed{Lock: l.Address, Report: r, Err: err}, Mine: true}
}

// Part implements finder.DirectoryKind.
func (kind) Part(name string) bool {
	return name == generation.Generations || name == generation.Reservations
}
