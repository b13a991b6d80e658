//go:build unix

package symlinks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// absent reports whether a name leads nowhere. A stale handle does not prove that: it may be
// that of the whole export.
func absent(err error) bool { return errors.Is(err, unix.ENOENT) }

// gone reports whether our own reservation counts as gone. If a stale handle is not proof enough of
// that, we alone have given up a lock for nothing.
func gone(err error) bool { return absent(err) || errors.Is(err, unix.ESTALE) }

// maybeCreated reports whether after a create the thing may be there. The next steps find out
// whose it is by our own ticket, never by the return code: a server that crashed repeats EEXIST
// for what was our own work.
func maybeCreated(err error) bool {
	return err == nil || errors.Is(err, unix.EEXIST) || backend.Unclear(err)
}

// notEmpty reports whether a directory was not removed because something is in it.
func notEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
}

// makeOp is the only operation beside the lock directory.
const makeOp = "make the lock directory"

// Fail gives a failed call its code and advice.
func (l *Lock) Fail(op string, err error) error {
	return l.Address.Fail(op, err, func(e *backend.Error) {
		switch {
		case e.BlameMount():
		case errors.Is(err, fs.ErrPermission):
			e.Hint = allowWriting(op, l.Address)
		case errors.Is(err, unix.ENOTEMPTY):
			e.Code, e.Hint = protocol.CannotCreate, "remove what somebody has put into it"
		case errors.Is(err, unix.EMLINK):
			e.Code, e.Hint = protocol.CannotCreate, "there are too many reservations: see locksmith status"
		}
	})
}

// allowWriting is the advice after a call in the lock directory, or beside it, was not permitted.
func allowWriting(op string, lock backend.Name) string {
	_, path, _ := strings.Cut(string(lock), ":")
	path, _, _ = strings.Cut(path, "?")
	switch {
	case strings.HasPrefix(path, "//"):
		return "allow this user of the server to write there, or choose another place"
	case op == makeOp:
		return "allow this user to write there, for a group with: chmod g+ws " + filepath.Dir(path)
	}
	return fmt.Sprintf("allow this user to write there, for a group with: chmod g+ws %[1]s %[1]s/R %[1]s/G", path)
}

// foreign says that something stands where only our own kind may stand.
func (l *Lock) foreign(what, cause string) error {
	return l.Address.Unfit("read "+what, cause,
		"nobody can tell whether the lock is held: make sure that nobody does, then move it away")
}
