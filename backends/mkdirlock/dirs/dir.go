// Package dirs is the calls that locks of directories make, and how their outcomes are told
// apart. A place for such locks, such as a file system or an FTP server, is a Dir.
package dirs

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// A Dir is the place of the lock: the few calls that the algorithm makes. Names
// are relative to the directory in which the lock is, with "/" between; "." is
// that directory. It may keep a connection, and is for one attempt or hold at a
// time.
//
// Every call has one of four outcomes: nil, it happened; ErrRefused, the server
// said no and nothing happened; ErrUnclear, it may have happened, or may happen
// yet; any other error, best a *backend.Error, says why nothing happened. No call
// that changes something is made twice, unless it is certain that the first did
// nothing.
type Dir interface {
	Mkdir(ctx context.Context, name string) error
	// Rmdir removes an empty directory.
	Rmdir(ctx context.Context, name string) error
	// Rename renames a directory, which replaces an empty one but never one in
	// which there is something.
	Rename(ctx context.Context, from, to string) error
	// List returns the names in a directory, without "." and "..", in no order. It may miss names
	// that come, go or are renamed meanwhile. ErrRefused is no proof that the directory is missing,
	// and an empty list is no proof that it is empty. A server's listing is bounded (backend.Haul).
	List(ctx context.Context, name string) ([]string, error)
	// Await returns after d or when ctx ends. It may return sooner, if it can notice that the name
	// or something in it goes away, or that the process ends. "" and a process 0 stand for none. Its
	// only promise is not to return much later.
	Await(ctx context.Context, name string, watched process.Process, d time.Duration)
	// Close gives up what it keeps; it is not used after that.
	Close()
}

// A StatDir also tells when what is in it last changed.
type StatDir interface {
	Dir
	// Entries lists a directory as List does.
	Entries(ctx context.Context, name string) ([]Entry, error)
}

// A Disk is a Dir that only this machine changes, whose kernel knows which processes live. There
// a lock in plain style can be taken in one step. An empty lock of ours can be told from that of
// a program that uses mkdir alone, so that no crash leaves half a lock for good.
//
// An error that is errors.ErrUnsupported says that this place cannot do it.
type Disk interface {
	Dir
	// RenameNew renames a directory to a name that nothing has.
	RenameNew(ctx context.Context, from, to string) error
	// Stake marks and pins a directory of our own. The mark stays when it is renamed to the lock.
	Stake(ctx context.Context, name string) (io.Closer, error)
	// Pin keeps a directory, whatever its name becomes, from being abandoned until the pin is closed
	// or our process ends.
	Pin(ctx context.Context, name string) (io.Closer, error)
	// RemoveAbandoned removes a directory that is empty, is marked, and has no pin. Otherwise the
	// call is refused, with ErrTended if the directory is marked.
	RemoveAbandoned(ctx context.Context, name string) error
}

// An Entry is something in a directory.
type Entry struct {
	Name string
	Dir  bool
	// Modified is a time by the server's clock, in a zone of its own: compare it only with times of
	// the same server. Zero if the server did not say.
	Modified time.Time
	Precise  bool   // to the second; else to the minute, or the day if it is old
	User     uint32 // whose it is, by the place's numbers; 0: root's, or not known
}

var (
	// ErrRefused is wrapped by the error of a call that the server refused.
	ErrRefused = errors.New("the server refused")
	// ErrUnclear is wrapped by the error of a call that may or may not have had
	// its effect.
	ErrUnclear = errors.New("it is not clear whether it happened")
	// ErrBusy is wrapped by the error of a call that was not made because the
	// server turns clients away now.
	ErrBusy = errors.New("the server turns clients away at the moment")

	// ErrTended: a process that lives is to remove the directory, or to take it.
	ErrTended = errors.New("a locksmith on this machine is about to remove it")
)

// Refused reports that a call was refused.
func Refused(err error) bool { return errors.Is(err, ErrRefused) }

// Unclear reports that a call may or may not have had its effect.
func Unclear(err error) bool { return errors.Is(err, ErrUnclear) }

// Forbidden reports EACCES. An SMB server also answers so to the rename of a directory as long as
// somebody reads in it.
func Forbidden(err error) bool { return backend.IsErrno(err, syscall.EACCES) }

// An outcome is an error of the system and its kind.
type outcome struct{ kind, cause error }

func (o outcome) Error() string   { return o.cause.Error() }
func (o outcome) Unwrap() []error { return []error{o.kind, o.cause} }

// Outcome gives an error of a file system's call one of the kinds that Dir knows. "It is there"
// and "it is not there" are refusals. A server that crashed may say so of our own work: our id,
// which is in the names, tells.
func Outcome(err error) error {
	switch {
	case backend.IsErrno(err, syscall.EEXIST, syscall.ENOTEMPTY, syscall.ENOENT):
		return outcome{ErrRefused, err}
	case backend.Unclear(err):
		return outcome{ErrUnclear, err}
	}
	return err
}

// RefusedFor is the error of a call that was refused, and why.
func RefusedFor(cause error) error { return outcome{ErrRefused, cause} }

// Passing reports that an error may go away by itself: nothing is known about the lock at the
// moment.
func Passing(err error) bool {
	return Unclear(err) || errors.Is(err, ErrBusy) || backend.Passes(err)
}

// An Examiner is a Dir with checks of its own, for what only its kind of place has.
type Examiner interface {
	Dir
	// Examine makes these checks in the directory named, and tells of them. What takes long goes on
	// beside the other checks. The function that Examine returns, if any, is called after those and
	// tells of it; it is not called at all if ctx ends before.
	Examine(ctx context.Context, name string, e backend.Examination, tell backend.Tell) (rest func() error, err error)
}

// A Rooted Dir is one on a file system.
type Rooted interface{ Root(name string) string }

// An Owned Dir tells whose a directory is, and when it last changed, without a listing. Of one that is not
// there nothing is known.
type Owned interface{ Stat(name string) Entry }

// A Clocked Dir tells whether its times are by this machine's clock.
type Clocked interface{ HasOurClock() bool }

// A Reader is a Dir in which a directory can be kept open, as one who lists it does.
type Reader interface {
	Read(name string) (io.Closer, error)
}

// A Guarded directory may keep us from removing what is somebody else's.
type Guarded interface {
	MayRemove(name string) bool
}

// MayRemove reports whether we may remove a directory. If we emptied a lock that we may not
// remove, nobody could break it any more.
func MayRemove(dir Dir, name string) bool {
	g, ok := dir.(Guarded)
	return !ok || g.MayRemove(name)
}

// Unpin ends a pin, if there is one.
func Unpin(pin io.Closer) {
	if pin != nil {
		_ = pin.Close()
	}
}

// Outlast returns a context that goes on for d after ctx has ended.
func Outlast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	on, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-on.Done():
		}
	})
	return on, func() { stop(); cancel() }
}

var (
	// ErrAbsent: an entry is not there.
	ErrAbsent = errors.New("it is not there")
	// ErrRevived: an entry whose owner we took for dead got a new heartbeat.
	ErrRevived = errors.New("its holder lives")
)

// NotOwner is the error where MayRemove is false.
func NotOwner(lock backend.Name, op string) error {
	return lock.Failure(protocol.Permission, op, errors.New("in a sticky directory only its owner may remove it"),
		"let its owner do it, or root")
}
