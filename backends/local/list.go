package local

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/shelf"
)

// Search implements finder.Place.
func (l *Lock) Search(context.Context) (finder.Search, error) {
	seen := flocks.Snapshot()
	return finder.Files(l.path, l.address, recognise, func(f finder.Found) backend.Backend {
		at := *l
		at.address, at.path, at.flocks = f.Address, l.path+f.Path, seen
		return &at
	}), nil
}

// recognise says what a file is. Our files differ from those of link: by their mark. Files of other
// tools, with only a pid or empty, may be locks, too. A file with a last success tells of its lock, if
// that is free.
func recognise(in *finder.Directory, name string, content func() finder.Content) *finder.Found {
	if of, ok := strings.CutSuffix(name, lockfile.SuccessSuffix); ok && of != "" {
		if _, held := in.Type(of); held || !shelf.IsSuccess(content().Text) {
			return nil
		}
		return in.Lock(of)
	}
	seen := content()
	begun := strings.HasSuffix(name, lockfile.SuccessSuffix+lockfile.UnfinishedSuffix) && seen.Text == "" // a success
	if begun {
		return nil
	}
	f := in.Lock(name)
	f.Bare, f.IfMet = !seen.Marked, !isLock(seen)
	return f
}

func isLock(seen finder.Content) bool {
	c := parse(seen.Text, true) // the address of a directory does not say how pids are written
	switch {
	case errors.Is(seen.Err, fs.ErrPermission):
		return seen.Marked
	case seen.Err != nil:
		return false
	case seen.Marked: // its record may be of a later version; of a part of a record the maker has not finished it
		return c.Record != nil || c.PID != 0 || seen.Text == "" || c.isWhole()
	}
	return c.PID != 0 || seen.Text == ""
}
