//go:build unix

package sftp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"syscall"

	"locksmith/backends/backend"
)

// list reads a directory to the end, without "." and "..", in no order. It sends two requests at
// once, because the second mostly says that this was all.
func (s *session) list(ctx context.Context, name string) (all []item, err error) {
	op := s.op("list", name)
	err = s.do(ctx, op, reads, func(c *conn) (err error) {
		all, err = s.readDirectory(c, name)
		return err
	})
	var said *statusError
	if !errors.As(err, &said) || said.code == statusNoFile || said.code == statusDenied {
		return all, s.asRefusal(op, err)
	}
	kind, lookErr := s.kindOf(ctx, name)
	switch {
	case lookErr != nil:
		return nil, lookErr
	case kind == 0:
		return nil, &refusal{op, syscall.ENOENT, said}
	case kind != modeDir:
		return nil, &refusal{op, syscall.ENOTDIR, said}
	}
	return nil, s.asRefusal(op, err)
}

func (s *session) readDirectory(c *conn, name string) ([]item, error) {
	opened, err := c.start(s.answer, typeOpendir, func(p packet) packet { return p.string(s.at(name)) })
	if err != nil {
		return nil, err
	}
	handle, err := opened.handle()
	if err != nil {
		return nil, err
	}
	onHandle := func(kind byte) (*call, error) {
		return c.start(s.answer, kind, func(p packet) packet { return p.string(handle) })
	}
	defer func() { _, _ = onHandle(typeClose) }() // its answer tells nothing
	var all []item
	haul := backend.NewHaul()
	for {
		first, err1 := onHandle(typeReaddir)
		second, err2 := onHandle(typeReaddir)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		some, more, err := first.listed(haul)
		rest, still, err2 := second.listed(haul)
		if err := cmp.Or(err, err2); err != nil {
			return nil, err
		}
		all = append(append(all, some...), rest...)
		if !more || !still {
			return slices.DeleteFunc(all, func(i item) bool { return i.name == "." || i.name == ".." }), nil
		}
	}
}

// listed are the names of a reply to READDIR; more is false at the end.
func (c *call) listed(haul *backend.Haul) (all []item, more bool, err error) {
	all, size, err := c.names()
	if tooLong := haul.Take(len(all), size); tooLong != nil {
		return nil, false, tooLong
	}
	var said *statusError
	switch {
	case errors.As(err, &said) && said.code == statusEOF:
		return nil, false, nil
	case err == nil && len(all) == 0: // else the listing would never end
		err = c.malformed()
	}
	return all, true, err
}
