package ftp

import (
	"context"
	"errors"
	"net/textproto"
	"path"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/backends/servers"
)

// files finds out whether a file may be renamed over another. No lock needs that, but many jobs
// under a lock do: they put a new file in the place of an old one.
func (d *Dir) files(ctx context.Context, dir string, tell backend.Tell) error {
	const name = "rename over a file"
	id := "doctor." + owner.NewID()
	before, after := path.Join(dir, id+".old"), path.Join(dir, id+".new")
	defer d.deleteFiles(ctx, tell, before, after)
	for _, file := range []string{before, after} {
		switch err := d.on(ctx, "make file", file, (*conn).store); {
		case errors.Is(err, dirs.ErrRefused):
			tell.Unknown(name, "no file can be made here: "+err.Error(), "none needed, unless jobs keep files here")
			return nil
		case err != nil:
			return err
		}
	}
	to, err := d.server.at(before)
	if err != nil {
		return err
	}
	err = d.on(ctx, "rename file", after, func(c *conn, from string) error { return c.library.Rename(from, to) })
	if err != nil && !errors.Is(err, dirs.ErrRefused) {
		return err
	}
	names, listed := d.List(ctx, dir)
	switch {
	case err != nil:
		tell.Weak(name, "refused: "+err.Error(), "let the server rename over files (ProFTPD: AllowOverwrite on); "+
			"else a job must remove the old file before, and a crash between the two leaves none")
	case listed != nil:
		return listed
	case slices.Contains(names, id+".new") || !slices.Contains(names, id+".old"):
		tell.Weak(name, "it is said to be done, but the names are not as they should be", "use another server for files that are put in the place of others")
	default:
		tell.Fit(name, "the other was replaced")
	}
	return nil
}

// on makes a call of the library for one file.
func (d *Dir) on(ctx context.Context, op, file string, f func(*conn, string) error) error {
	p, err := d.server.at(file)
	if err != nil {
		return err
	}
	return d.call(ctx, op+" "+servers.ShortPath(p), func(c *conn) error { return f(c, p) })
}

// store makes a file of one line. If the server refuses, the library joins that error with
// others, and store takes the refusal out.
func (c *conn) store(p string) error {
	err := c.ended(c.library.Stor(p, strings.NewReader("doctor\n")))
	var reply *textproto.Error
	if errors.As(err, &reply) && !errors.As(err, new(*dataError)) {
		return reply
	}
	return err
}

// deleteFiles removes the files if they exist, even when ctx has ended.
func (d *Dir) deleteFiles(ctx context.Context, tell backend.Tell, files ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	for _, file := range files {
		_ = d.on(ctx, "remove file", file, func(c *conn, p string) error { return c.library.Delete(p) }) // it may not exist
	}
	names, err := d.List(ctx, path.Dir(files[0]))
	for _, file := range files {
		if err != nil && !errors.Is(err, dirs.ErrRefused) || slices.Contains(names, path.Base(file)) {
			tell.Weak("clean up", file+" stays", "remove it")
		}
	}
}
