package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/success"
	"locksmith/protocol"
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
	wordSuccess      = "SUCCESS"
)

// Successes are the successes of the lock file at a path. There is at most one: each replaces the
// one before.
type Successes struct{ Path string }

var _ success.Store = Successes{}

// List implements success.Store. An error that says nothing of the file is one: what was done may not
// be done again because of it.
func (s Successes) List(context.Context) ([]success.Mark, error) {
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
	line, err := protocol.Parse(text)
	if err != nil || line.Word != wordSuccess || line.Value("v") != "1" {
		return nil, nil
	}
	m := success.Mark{Name: path, Number: 1, At: st.Modified, Host: line.Value("host")}
	if !st.Own {
		m.By = owner.UserName(st.User)
	}
	return []success.Mark{m}, nil
}

// IsSuccess reports whether the text of a file looks like a success.
func IsSuccess(text string) bool { return strings.HasPrefix(text, wordSuccess+" ") }

// Read implements success.Store.
func (Successes) Read(context.Context, *success.Mark) error { return nil }

// Write implements success.Store. Its errors are the system's own.
func (s Successes) Write(_ context.Context, n uint64) (success.Mark, error) {
	m := success.Mark{Name: s.Path + SuccessSuffix, Number: n}
	text, err := protocol.Line{Word: wordSuccess}.With("v", "1").With("host", owner.Here().Host).Format()
	if err == nil {
		err = replaceSuccess(m.Name, text)
	}
	return m, err
}

// Remove implements success.Store.
func (Successes) Remove(context.Context, success.Mark) error { return nil }

// Clear removes what is on record, if anything is.
func (s Successes) Clear() error {
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
	case !IsSuccess(old) && !(st.Marked && strings.HasPrefix(wordSuccess+" ", old)):
		return fmt.Errorf("%s is there and is none of ours: move it away", path)
	}
	return nil
}
