package ftp

import (
	"context"
	"path"
	"strings"

	library "github.com/jlaffaye/ftp"

	"locksmith/backends/mkdirlock"
)

// Entries implements mkdirlock.Timed. Lines that cannot be read are left out.
func (d *Dir) Entries(ctx context.Context, name string) ([]mkdirlock.Entry, error) {
	p, err := d.server.at(name)
	if err != nil {
		return nil, err
	}
	var found []*library.Entry
	precise := false
	err = d.call(ctx, "list "+shortPath(p), func(c *conn) error {
		var err error
		found, err = c.library.List(p)
		precise = c.library.IsTimePreciseInList()
		return c.ended(err)
	})
	if err != nil {
		return nil, err
	}
	var entries []mkdirlock.Entry
	for _, e := range found {
		// Some servers list the directory itself and the one above it, by their paths.
		if path.IsAbs(e.Name) && path.Dir(e.Name) != p || e.Name == p && strings.Contains(p, "/") {
			continue
		}
		for _, base := range names([]string{e.Name}) {
			entries = append(entries, mkdirlock.Entry{
				Name: base, Dir: e.Type == library.EntryTypeFolder, Modified: e.Time, Precise: precise,
			})
		}
	}
	return entries, nil
}
