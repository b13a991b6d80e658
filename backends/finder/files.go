package finder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
)

// A FileTree is a Tree on a file system.
type FileTree struct {
	Root    string // a directory, or a symbolic link to one
	Address string // the address of the root, for messages
}

var _ Reader = FileTree{}

// List implements Tree.
func (t FileTree) List(_ context.Context, path string) ([]Entry, error) {
	f, err := openDirectory(t.at(path))
	if err != nil {
		return nil, t.fail(path, err)
	}
	defer f.Close()
	var all []Entry
	for {
		some, err := f.ReadDir(1000)
		for _, e := range some {
			all = append(all, Entry{Name: e.Name(), Type: typeOf(e.Type())})
		}
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, t.fail(path, err)
		}
	}
}

func typeOf(m fs.FileMode) Type {
	switch {
	case m.IsDir():
		return Subdirectory
	case m.IsRegular():
		return RegularFile
	}
	return Other
}

// Read implements Reader. It neither follows a link nor waits for anything.
func (t FileTree) Read(path string) Content {
	f, err := lockfile.Open(t.at(path))
	if err != nil {
		return Content{Marked: lockfile.IsMarked(t.at(path)), Err: err}
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return Content{Err: err}
	case st.Kind != "":
		return Content{Err: syscall.EINVAL}
	}
	c := Content{Marked: st.Marked, Err: syscall.EFBIG}
	if st.Size <= MaxText {
		c.Text, c.Err = f.Read(int(st.Size))
	}
	return c
}

// fail explains why a directory cannot be listed.
func (t FileTree) fail(path string, err error) error {
	var cause syscall.Errno
	if errors.As(err, &cause) {
		err = cause // without the path, which the message has already
	}
	e := backend.FileError(string(backend.Name(t.Address).Below(path)), "list the directory", err)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		e.Hint = "name a directory; for one lock: locksmith status"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "run it as somebody who may read there"
	case e.BlameMount():
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "correct the path"
	}
	return e
}

// gone reports that what was listed is no longer there, or is something else now.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
