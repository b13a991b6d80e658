package ftp

import (
	"context"
	"path"
	"time"

	library "github.com/jlaffaye/ftp"
)

// An Entry is something in a directory, with its time.
type Entry struct {
	Name     string
	Modified time.Time // by the server's clock, in a zone of its own; zero if it did not say
	Precise  bool      // to the second; else to the minute, or the day if it is old
}

// Entries lists a directory with times. They may be compared with each other,
// but with no other clock. Lines that cannot be read are left out. Errors are
// those of List.
func (d *Dir) Entries(ctx context.Context, name string) ([]Entry, error) {
	p, err := d.server.at(name)
	if err != nil {
		return nil, err
	}
	var found []*library.Entry
	precise := false
	err = d.call(ctx, "list "+p, func(c *conn) error {
		var err error
		found, err = c.library.List(p)
		precise = c.library.IsTimePreciseInList()
		return c.ended(err)
	})
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, e := range found {
		// Some servers list the directory itself and the one above it, by their paths.
		if path.IsAbs(e.Name) && path.Dir(e.Name) != p {
			continue
		}
		for _, base := range names([]string{e.Name}) {
			entries = append(entries, Entry{Name: base, Modified: e.Time, Precise: precise})
		}
	}
	return entries, nil
}
