package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// A success is kept in a file beside the lock file, with ".done" after its name. The file has one
// line:
//
//	SUCCESS v=1 host=web3
//
// The age of a success is the time of this file compared with another time of the same clock. If
// something else is there, or if the file could be a stranger's, there is no success. Write
// replaces the file only if it begins like a success, or if it is the beginning of one and has the
// mark of our lock files: we may have been killed while writing it. It writes the new success to a
// file with ".done.new" after its name, for which the same holds, and renames that.

const (
	SuccessSuffix    = ".done" // follows the lock file's name in the name of its success
	UnfinishedSuffix = ".new"  // follows SuccessSuffix while a success is written
)

// A Shelf is beside the lock file at a path. There is at most one success, because each replaces the
// one before, and nothing else.
type Shelf struct {
	Path  string
	Clock func() (time.Time, error)        // is Now; nil: nobody asks
	Fail  func(op string, err error) error // explains the system's error
}

var _ shelf.Shelf = Shelf{}

// Now implements shelf.Shelf.
func (s Shelf) Now(context.Context) (time.Time, error) { return s.Clock() }

// List implements shelf.Shelf. An error that says nothing of the file is one: what was done may not be
// done again because of it.
func (s Shelf) List(context.Context) ([]shelf.Slip, error) {
	all, err := s.list()
	if err != nil {
		return nil, s.Fail("look for the last success", err)
	}
	return all, nil
}

func (s Shelf) list() ([]shelf.Slip, error) {
	path := s.Path + SuccessSuffix
	const maxName = 255 // bytes, NAME_MAX of limits.h(0p)
	if len(filepath.Base(path+UnfinishedSuffix)) > maxName {
		return nil, fmt.Errorf("a success is kept in a file with a name longer by %d bytes: %w", len(SuccessSuffix+UnfinishedSuffix), syscall.ENAMETOOLONG)
	}
	st, text, err := readSuccess(path)
	if backend.IsErrno(err, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM) {
		return nil, err
	}
	if err != nil || !st.Own && isSticky(path) || st.Links > 1 {
		return nil, nil
	}
	host, ok := shelf.ParseSuccess(text)
	if !ok {
		return nil, nil
	}
	slip := shelf.Slip{Name: path, Number: 1, At: st.Modified, Host: host}
	if !st.Own {
		slip.By = owner.UserName(st.User)
	}
	return []shelf.Slip{slip}, nil
}

// Read implements shelf.Shelf.
func (Shelf) Read(context.Context, string, *shelf.Slip) error { return nil }

// Write implements shelf.Shelf.
func (s Shelf) Write(_ context.Context, op string, slip *shelf.Slip) error {
	if slip.Number == 0 {
		return errors.ErrUnsupported
	}
	slip.Name = s.Path + SuccessSuffix
	if err := replaceSuccess(slip.Name, slip.Text); err != nil {
		return s.Fail(op, err)
	}
	return nil
}

// Remove implements shelf.Shelf.
func (s Shelf) Remove(context.Context, string, shelf.Slip) error { return s.Clear() }

// Clear removes what is on record, if anything is. Its errors are the system's own.
func (s Shelf) Clear() error {
	path := s.Path + SuccessSuffix
	if err := mayReplace(path); err != nil {
		return err
	}
	if err := os.Remove(native(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readSuccess reads the file in the place of a success.
func readSuccess(path string) (st Stat, text string, err error) {
	f, err := Open(path)
	if err != nil {
		return st, "", err
	}
	defer f.Close()
	st, err = f.Stat()
	if err == nil && st.Kind != "" {
		err = errors.New("it is " + st.Kind)
	}
	if err != nil {
		return st, "", err
	}
	text, err = f.Text()
	return st, text, err
}

// isSticky reports whether everybody may make files in the directory of a path, but only a file's
// owner may remove it.
func isSticky(path string) bool {
	st, err := os.Stat(filepath.Dir(native(path)))
	return err != nil || st.Mode()&fs.ModeSticky != 0
}

// replaceSuccess writes a file beside the one at path, and renames it: until then the earlier
// success is there. Only the holder of the lock does that. A holder that has lost the lock, and
// goes on late, finds that the file beside is not its own.
func replaceSuccess(path, text string) error {
	if err := mayReplace(path); err != nil {
		return err
	}
	beside := path + UnfinishedSuffix
	if err := mayReplace(beside); err != nil {
		return err
	}
	if err := os.Remove(native(beside)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := Create(beside)
	if err != nil {
		return err
	}
	err = f.Write(text)
	if err == nil {
		_ = f.Share() // who may not read it does the work again
		err = f.Named()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err // the next one removes what is left
	}
	return os.Rename(native(beside), native(path))
}

// mayReplace returns an error if what is there has nothing to do with us. A file that we began to
// write has our mark.
func mayReplace(path string) error {
	st, old, err := readSuccess(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !shelf.IsSuccess(old) && !(st.Marked && shelf.BeginsSuccess(old)):
		return fmt.Errorf("%s is there and is none of ours: move it away", path)
	}
	return nil
}
