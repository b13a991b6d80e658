package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"locksmith/protocol"
)

// Answered reports that the lock's place told us of the lock: somebody holds it, or others changed
// it faster than we could look.
func (e *HeldError) Answered() bool {
	return e.Obstacle == nil || !Passes(e.Obstacle)
}

func (e *HeldError) Error() string {
	if len(e.Others) > 0 {
		return fmt.Sprintf("%s; and no other is free of the %d that would do", e.why(), len(e.Others)+1)
	}
	return e.why()
}

func (e *HeldError) why() string {
	switch {
	case e.Obstacle != nil:
		return fmt.Sprintf("%s: waiting until it can be seen who holds it: %s", e.Lock, strings.TrimPrefix(e.Obstacle.Error(), e.Lock+": "))
	case e.Queued:
		return fmt.Sprintf("%s: free, but somebody waits before us: %s", e.Lock, e.Holder)
	case e.Yielding:
		return fmt.Sprintf("%s: others share it, but we hold back for one that waits to have it alone: %s", e.Lock, e.Holder)
	case e.Ahead > 0:
		return fmt.Sprintf("%s: held by %s; %d waiting before us", e.Lock, e.Holder.Holding(time.Now()), e.Ahead)
	}
	return fmt.Sprintf("%s: held by %s", e.Lock, e.Holder.Holding(time.Now()))
}

// Unwrap returns the obstacle.
func (e *HeldError) Unwrap() error { return e.Obstacle }

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.Lock, e.Op, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Fail returns the error of a failed call with its code and advice, unless it has both already.
// explain, if not nil, adds what the kind of lock knows of such failures.
func (n Name) Fail(op string, err error, explain func(*Error)) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	e := FileError(string(n), op, err)
	if explain != nil {
		explain(e)
	}
	return e
}

// Usage says that somebody asked for something that makes no sense.
func (n Name) Usage(op, cause, hint string) error {
	return n.Failure(protocol.Usage, op, errors.New(cause), hint)
}

// Gone says that what was ours is no longer there. hint says what may have happened to it.
func (n Name) Gone(op, hint string) error { return n.Failure(protocol.Gone, op, ErrGone, hint) }

// NoSuch says that what was to be broken is not there any more, or never was.
func (n Name) NoSuch(op string) error {
	return n.Gone(op, "see who is there with: locksmith status "+ShellWord(string(n)))
}

// InUse says that the lock was not removed because somebody else uses it.
func (n Name) InUse(why string) error {
	return n.Failure(protocol.Held, "remove", errors.New(why+", so it stays"), "see who with: locksmith status "+ShellWord(string(n)))
}

// MaxLate is how many times in a row a lock may be ours too late for its lease. A stall explains
// one of them; after so many the lease is too short for the lock's place.
const MaxLate = 3

// TooSlow says that, again and again, most of the lease was over by the time the lock was ours.
// It is said after several tries, so it lasts: no waiter tries again by itself.
func (n Name) TooSlow(why error) error {
	return &Error{Code: protocol.Unreachable, Lock: string(n), Op: "acquire",
		Err: fmt.Errorf("too slow for the lease: %w", why), Hint: "try again, or with a longer --lease", Lasts: true}
}

// Unfit says that there can be no lock at that place.
func (n Name) Unfit(op, cause, hint string) error {
	return n.Failure(protocol.CannotCreate, op, errors.New(cause), hint)
}

// Failure returns an error whose code and advice are known.
func (n Name) Failure(code protocol.Code, op string, err error, hint string) error {
	return &Error{Code: code, Lock: string(n), Op: op, Err: err, Hint: hint}
}

// Quoted returns somebody else's text in quotes, for a message.
func Quoted(s string) string { return strconv.Quote(protocol.CleanText(s, 100)) }

// FileError returns the error of a failed file operation with its code and advice.
func FileError(lock, op string, err error) *Error {
	e := &Error{Code: protocol.Internal, Lock: lock, Op: op, Err: err}
	var refused interface{ Refused() string }
	switch {
	case errors.As(err, &refused):
		e.Code, e.Hint = protocol.CannotCreate, "allow it there, or use a newer kernel: locksmith doctor tells what is missing"
	case noSpace(err):
		e.Code, e.Hint = protocol.CannotCreate, "free some space (df) or inodes (df -i), or choose another file system"
	case errors.Is(err, syscall.EFBIG):
		e.Code, e.Hint = protocol.CannotCreate, "this process may write no file of that size: raise its limit with ulimit -f"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e.Hint = "raise the limit of open files: ulimit -n"
	case errors.Is(err, syscall.EROFS):
		e.Code, e.Hint = protocol.CannotCreate, "the file system is read-only: choose another place"
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Hint = protocol.Permission, "allow this user to write there, or choose another place"
	case errors.Is(err, syscall.ENOTDIR):
		e.Code, e.Hint = protocol.CannotCreate, "a file or a symbolic link is where a directory should be: choose another name, or correct the path"
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Hint = protocol.CannotCreate, "create the directory first, or correct the path"
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		e.Code, e.Hint = protocol.CannotCreate, "correct the path"
	}
	return e
}

// BlameMount gives the error of a call that a mount did not answer clearly its code and advice. It
// reports whether the error was that of such a call.
func (e *Error) BlameMount() bool {
	if !Unclear(e.Err) && !IsErrno(e.Err, syscall.ENOLCK) {
		return false
	}
	e.Code, e.Hint = protocol.Unreachable, "look at the server and the mount, then try again"
	return true
}

// AwaitSpace makes a call that needs some space on a file system. If there is no space, it makes the
// call again, for 100 ms. For a waiter wakes when the holder removes its file, but the space of that
// file is free only when the holder has closed it, too.
func AwaitSpace(call func() error) (err error) {
	for range 10 {
		if err = call(); !noSpace(err) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func noSpace(err error) bool { return IsErrno(err, syscall.ENOSPC, syscall.EDQUOT) }
