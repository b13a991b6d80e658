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

// ErrGone says that the lock, or our entry in it, is no longer there.
var ErrGone = errors.New("the lock is no longer there")

// ErrStays is wrapped by the error of a Release that cannot get further: our entry
// is gone, but what stays of the lock keeps others out until a person removes it.
var ErrStays = errors.New("what is left of it stays until somebody removes it")

// ErrNoAnswer says that a call was left behind. If a call that has come back returns it,
// then some other call was left behind, one which that call had made.
var ErrNoAnswer = errors.New("no answer in time")

// ErrLives says that a lock cannot be broken by its id: its helper lives, and the
// system keeps the lock for it.
var ErrLives = errors.New("its helper lives, and keeps it")

// ErrNoTokens says that holders of this lock get no fencing tokens.
var ErrNoTokens = errors.New("holders of this lock get no fencing tokens")

// A HeldError says that somebody else holds the lock, or will in a moment.
type HeldError struct {
	Lock   string
	Holder Holder
	Ahead  int // how many wait before us, where there is a queue
	Others int // how many others would do, but are not free either
	// Queued says that nobody holds the lock, but Holder is before us in the
	// queue. We only hold back for a moment.
	Queued bool
	// Yielding says that we could share the lock with its holders, but hold back
	// because Holder waits for it alone.
	Yielding bool
	// Obstacle, if not nil, is why it cannot be told at the moment whether the lock is
	// held; it may pass. Holder is then the one that was seen before, if any.
	Obstacle error
}

// Answered reports that the lock's place told of the lock: somebody holds it, or others were
// faster than we could look.
func (e *HeldError) Answered() bool {
	return e.Obstacle == nil || !Passes(e.Obstacle)
}

func (e *HeldError) Error() string {
	if e.Others > 0 {
		return fmt.Sprintf("%s; and no other is free of the %d that would do", e.why(), e.Others+1)
	}
	return e.why()
}

func (e *HeldError) why() string {
	switch {
	case e.Obstacle != nil:
		return fmt.Sprintf("%s: waiting until it can be seen who holds it: %s", e.Lock, strings.TrimPrefix(e.Obstacle.Error(), e.Lock+": "))
	case e.Queued:
		return fmt.Sprintf("%s: free, but before us waits %s", e.Lock, e.Holder)
	case e.Yielding:
		return fmt.Sprintf("%s: shared by others, but before us waits for it alone %s", e.Lock, e.Holder)
	case e.Ahead > 0:
		return fmt.Sprintf("%s: held by %s; %d waiting before us", e.Lock, e.Holder.Holding(time.Now()), e.Ahead)
	}
	return fmt.Sprintf("%s: held by %s", e.Lock, e.Holder.Holding(time.Now()))
}

// IsStuck reports that nothing is going to free the lock, however often it is tried: that needs
// a person, or somebody who waits for a whole lease.
func (e *HeldError) IsStuck() bool {
	return e.Obstacle == nil && e.Others == 0 && !e.Queued && !e.Yielding && e.Holder.isStuck()
}

// Unwrap returns the obstacle.
func (e *HeldError) Unwrap() error { return e.Obstacle }

// An Error is a failure with its code and advice.
type Error struct {
	Code protocol.Code
	Lock string // the address
	Op   string // what was being done, as in "create lock file"
	Err  error  // the cause
	Hint string // what to do next; may be empty
	// Lasts says that trying again does not help, although the code is unreachable: somebody
	// must correct something first, such as a host's name or the key that is trusted.
	Lasts bool
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.Lock, e.Op, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// A Name is the address of a lock, in the errors that its methods make.
type Name string

// Fail gives a failed call its code and advice, unless it has both. explain, if not nil,
// adds what the kind of lock knows of such failures.
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

// Usage says that something was asked for that makes no sense.
func (n Name) Usage(op, cause, hint string) error {
	return n.Failure(protocol.Usage, op, errors.New(cause), hint)
}

// Gone says that what was ours is no longer there; hint says what may have happened to it.
func (n Name) Gone(op, hint string) error { return n.Failure(protocol.Gone, op, ErrGone, hint) }

// NoSuch says that what was to be broken is not there (any more).
func (n Name) NoSuch(op string) error {
	return n.Gone(op, "see who is there with: locksmith status "+ShellWord(string(n)))
}

// InUse says that the lock was not removed, because of somebody else.
func (n Name) InUse(why string) error {
	return n.Failure(protocol.Held, "remove", errors.New(why+", so it stays"), "see who with: locksmith status "+ShellWord(string(n)))
}

// TooSlow says that the lock was ours only when most of the lease was over, again and again.
func (n Name) TooSlow(why error) error {
	return &Error{Code: protocol.Unreachable, Lock: string(n), Op: "acquire",
		Err: fmt.Errorf("too slow for the lease: %w", why), Hint: "try again, or with a longer --lease", Lasts: true}
}

// Unfit says that no lock can be there.
func (n Name) Unfit(op, cause, hint string) error {
	return n.Failure(protocol.CannotCreate, op, errors.New(cause), hint)
}

// Failure is an error whose code and advice are known.
func (n Name) Failure(code protocol.Code, op string, err error, hint string) error {
	return &Error{Code: code, Lock: string(n), Op: op, Err: err, Hint: hint}
}

// Quoted is a text of somebody else's for a message.
func Quoted(s string) string { return strconv.Quote(protocol.CleanText(s, 100)) }

// CodeOf returns the code that an error of a backend stands for.
func CodeOf(err error) protocol.Code {
	var held *HeldError
	var e *Error
	switch {
	case errors.As(err, &held) && held.Obstacle != nil:
		return CodeOf(held.Obstacle)
	case errors.As(err, &held):
		return protocol.Held
	case errors.Is(err, ErrGone):
		return protocol.Gone
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, ErrNoAnswer):
		return protocol.Unreachable
	}
	return protocol.Internal
}

// Passes reports that an error may pass by itself: the lock's place did not answer, or has no
// time, or something on the way answered in its place. Nothing is known about the lock then.
// Every kind of lock gives such an error the code unreachable, and no other one that code,
// unless it says that it lasts (Error.Lasts).
func Passes(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok && e.Lasts {
		return false
	}
	return CodeOf(err) == protocol.Unreachable
}

// FileError gives a failed file operation its code and advice.
func FileError(lock, op string, err error) *Error {
	e := &Error{Code: protocol.Internal, Lock: lock, Op: op, Err: err}
	var refused interface{ Refused() string }
	switch {
	case errors.As(err, &refused):
		e.Code, e.Hint = protocol.CannotCreate, "allow it there, or use a newer kernel: locksmith doctor tells what is missing"
	case noSpace(err):
		e.Code, e.Hint = protocol.CannotCreate, "free some space, or choose another file system"
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

// Unclear reports that a call of a file system may or may not have had its effect, or
// may have it yet: a soft mount gave up, a signal came, the server forgot the file, or
// the network does not reach it.
func Unclear(err error) bool {
	return IsErrno(err, syscall.EIO, syscall.ETIMEDOUT, syscall.EINTR, syscall.ESTALE,
		syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.ECONNRESET)
}

// IsErrno reports that an error is one of those numbers of the system.
func IsErrno(err error, all ...syscall.Errno) bool {
	for _, errno := range all {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// AwaitSpace makes a call that needs some space on a file system, and makes it again for
// 100 ms while there is none. A waiter wakes when the holder removes its file, but the
// file's space is free only when the holder has closed it, too.
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

const maxDescription = 1024
