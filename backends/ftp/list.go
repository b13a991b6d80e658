package ftp

import (
	"bufio"
	"context"
	"errors"
	"net/textproto"
	"path"
	"strings"

	library "github.com/jlaffaye/ftp"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/servers"
)

// List implements dirs.Dir. If a data connection is cut exactly between two lines, and the
// server says that all went well, the result looks like a shorter listing. Only TLS can tell.
func (d *Dir) List(ctx context.Context, name string) ([]string, error) {
	p, err := d.server.at(name)
	if err != nil {
		return nil, err
	}
	var lines []string
	err = d.call(ctx, "list "+servers.ShortPath(p), func(c *conn) error {
		var err error
		lines, err = c.library.NameList(p)
		return c.ended(err)
	})
	if err != nil {
		return nil, err
	}
	return names(lines), nil
}

// ended says how a listing ended. The library takes every code but 226 at the end for an error,
// and joins that with the error of the data, if there is one.
func (c *conn) ended(err error) error {
	if errors.Is(err, bufio.ErrTooLong) { // the library's limit
		return backend.TooLongError("a name has no end")
	}
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		return err
	}
	several, joined := err.(interface{ Unwrap() []error })
	switch {
	case joined && len(several.Unwrap()) == 1 && reply.Code/100 == 2:
		return nil
	case reply.Code == 425, reply.Code == 522, c.control.verb == "PASV" && reply.Code != 421:
		return &dataError{err}
	}
	return err
}

// names takes the names out of the lines of NLST. Servers give the names alone, or with the
// directory: as it was asked for, or relative to some other one.
func names(lines []string) []string {
	var all []string
	for _, line := range lines {
		name := strings.TrimRight(line, "\r")
		name = strings.TrimSuffix(name, "/")
		name = name[strings.LastIndexByte(name, '/')+1:]
		if name != "" && name != "." && name != ".." {
			all = append(all, name)
		}
	}
	return all
}

func lists(verb string) bool { return verb == "NLST" || verb == "LIST" || verb == "MLSD" }

// listens reports whether a command asks for a data connection.
func listens(verb string) bool { return verb == "EPSV" || verb == "PASV" }

// Entries implements dirs.StatDir. It leaves out lines that cannot be parsed.
func (d *Dir) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	p, err := d.server.at(name)
	if err != nil {
		return nil, err
	}
	var found []*library.Entry
	precise := false
	err = d.call(ctx, "list "+servers.ShortPath(p), func(c *conn) error {
		var err error
		found, err = c.library.List(p)
		precise = c.library.IsTimePreciseInList()
		return c.ended(err)
	})
	if err != nil {
		return nil, err
	}
	var entries []dirs.Entry
	for _, e := range found {
		// Some servers also list the directory itself and its parent, by their paths.
		if path.IsAbs(e.Name) && path.Dir(e.Name) != p || e.Name == p && strings.Contains(p, "/") {
			continue
		}
		for _, base := range names([]string{e.Name}) {
			entries = append(entries, dirs.Entry{
				Name: base, Dir: e.Type == library.EntryTypeFolder, Modified: e.Time, Precise: precise,
			})
		}
	}
	return entries, nil
}
