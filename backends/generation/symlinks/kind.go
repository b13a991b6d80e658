//go:build unix

package symlinks

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
)

// A Kind recognizes the lock directories below a place. It implements finder.DirectoryKind.
type Kind struct {
	Place Lock // the place, as if it were a lock itself
	// At is the lock directory at a path of the walk.
	At func(path string) Dir
}

// Beside implements finder.DirectoryKind: nothing of a lock is beside it.
func (Kind) Beside(context.Context, *finder.Directory, string) finder.Answer { return finder.Answer{} }

// Directory implements finder.DirectoryKind.
func (k Kind) Directory(ctx context.Context, d, _ *finder.Directory) finder.Answer {
	if !d.HasDirectory(Generations) || !d.HasDirectory(Reservations) {
		return finder.Answer{}
	}
	l := k.Place
	l.Dir, l.Address = k.At(d.Path), l.Address.Below(d.Path)
	r, err := l.Inspect(ctx)
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.Address), Report: r, Err: err}, Mine: true}
}

// Part implements finder.DirectoryKind.
func (Kind) Part(name string) bool { return name == Generations || name == Reservations }
