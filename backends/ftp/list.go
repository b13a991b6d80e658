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
	"locksmith/backends/mkdirlock"
)

// List implements mkdirlock.Dir. A data connection that was cut exactly between
// two lines, though the server says all went well, cannot be told from a shorter
// listing without TLS.
func (d *Dir) List(ctx context.Context, name string) ([]string, error) {
	p, err := d.server.at(name)
	if err != nil {
		return nil, err
	}
	var lines []string
	err = d.call(ctx, "list "+shortPath(p), func(c *conn) error {
		var err error
		lines, err = c.library.NameList(p)
		return c.ended(err)
	})
	if err != nil {
		return nil, err
	}
	return names(lines), nil
}

// ended says how a listing ended. The library dislikes all codes but 226 at the
// end, and joins its error with that of the data, if there is one.
func (c *conn) ended(err error) error {
	if errors.Is(err, bufio.ErrTooLong) { // for the library
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

// names understands the lines of NLST: servers give the names alone, or with
// the directory, as it was asked for or relative to somewhere.
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

// listens reports that a command asks for a data connection.
func listens(verb string) bool { return verb == "EPSV" || verb == "PASV" }

// Entries implements mkdirlock.StatDir. Lines that cannot be read are left out.
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
