package soak

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

func (c client) mkdir(name string) error {
	return c.do(func() error { return c.put(name, newDirectory()) })
}

func (c client) rmdir(name string) error {
	return c.do(func() error {
		parent, n, last := c.find(name)
		switch {
		case n == nil:
			return unix.ENOENT
		case !n.isDirectory():
			return unix.ENOTDIR
		case len(n.in) > 0:
			return unix.ENOTEMPTY
		}
		delete(parent.in, last)
		return nil
	})
}

// rename replaces an empty directory.
func (c client) rename(from, to string) error {
	return c.do(func() error {
		oldParent, n, oldLast := c.find(from)
		newParent, there, newLast := c.find(to)
		switch {
		case n == nil || newParent == nil:
			return unix.ENOENT
		case there != nil && len(there.in) > 0:
			return unix.ENOTEMPTY
		}
		delete(oldParent.in, oldLast)
		newParent.in[newLast] = n
		return nil
	})
}

// unlink removes a name of a file, or a symbolic link.
func (c client) unlink(name string) error {
	return c.do(func() error {
		parent, n, last := c.find(name)
		switch {
		case n == nil:
			return unix.ENOENT
		case n.isDirectory():
			return unix.EISDIR
		}
		n.links--
		delete(parent.in, last)
		return nil
	})
}

func (c client) list(name string) (names []string, err error) {
	err = c.do(func() error {
		n, err := c.get(name)
		if err == nil && !n.isDirectory() {
			err = unix.ENOTDIR
		}
		if err == nil {
			names = slices.Collect(maps.Keys(n.in))
		}
		return err
	})
	return names, err
}
