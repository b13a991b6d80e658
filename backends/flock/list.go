//go:build unix

package flock

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/flocks"
)

// Search implements finder.Place. A file is a lock if there is a holder's record in it; or, if no other
// kinds are looked for, if somebody has locked it, whatever the file holds. But a file of a local: lock is
// that lock's: its helper keeps it locked.
func (l *Lock) Search(context.Context) (finder.Search, error) {
	look := flocks.Snapshot()
	file := func(in *finder.Directory, name string, content func() finder.Content) *finder.Found {
		f := in.Lock(name)
		seen := content()
		f.Bare, f.Lasts = recordIn(seen.Text) == nil, true
		if !f.Bare || !in.Several && !seen.Marked && isLocked(look, l.path+f.Path) {
			return f
		}
		return nil
	}
	return finder.Files(l.path, l.address, file, func(f finder.Found) backend.Backend {
		at := *l
		at.address, at.path, at.sees = f.Address, l.path+f.Path, look
		return &at
	}), nil
}

func isLocked(look look, path string) bool {
	seen, err := look(path)
	return err == nil && seen.Held()
}
