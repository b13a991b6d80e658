package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// maxSize is more than any of our files needs, in bytes.
const maxSize = 64 << 10

// A guard is a set of permission bits that others may not have on a file.
type guard fs.FileMode

const (
	unwritable guard = 0o022
	private    guard = 0o077
)

// open opens a file and makes sure that it is fit to be believed, or to hold a secret. If there
// is no file, the error wraps fs.ErrNotExist.
func (g guard) open(path, op string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, fail(path, op, bare(err), "create it, let this user read it, or correct the path")
	}
	if err := g.check(f, path); err != nil {
		_ = f.Close()
		return nil, fail(path, op, err, hintOf(err))
	}
	return f, nil
}

func (g guard) check(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return bare(err)
	}
	if !info.Mode().IsRegular() {
		return faulty("put a regular file there", "it is not a regular file")
	}
	if err := g.checkAccess(info, path); err != nil {
		return err
	}
	if info.Size() > maxSize {
		return tooLarge()
	}
	return nil
}

func tooLarge() error {
	return faulty("shorten it, or correct the path", "it is larger than %d bytes", maxSize)
}

// read returns the content of a file that open accepts.
func (g guard) read(path, op string) ([]byte, error) {
	f, err := g.open(path, op)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return nil, fail(path, op, bare(err), "try again")
	case len(text) > maxSize:
		return nil, fail(path, op, tooLarge(), hintOf(tooLarge()))
	}
	return text, nil
}

// bare is an error without the path, because our own errors begin with the path.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

// fail makes an error in the form that all errors of this package have.
func fail(file, op string, cause error, hint string) error {
	return &backend.Error{Code: protocol.Config, Lock: file, Op: op, Err: cause, Hint: hint}
}

// A fault says what is wrong with a value, and what to write instead.
type fault struct{ cause, hint string }

func (f *fault) Error() string { return f.cause }

func faulty(hint, cause string, args ...any) *fault {
	return &fault{fmt.Sprintf(cause, args...), hint}
}

func hintOf(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.hint
	}
	return "correct it"
}

// failAt says in which line of a file of profiles something is wrong. Line 0 means that the line
// is not known.
func failAt(file string, line int, wrong error) error {
	where := readProfiles
	if line > 0 {
		where = fmt.Sprintf("%s, line %d", readProfiles, line)
	}
	return fail(file, where, wrong, hintOf(wrong))
}
