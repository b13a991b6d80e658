// Package dirs is the calls that locks of directories make, and how their outcomes are told
// apart. A place for such locks, as a file system or an FTP server, is a Dir.
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
	// List returns the names in a directory, without "." and "..", in no order. It
	// may miss names that come, go or are renamed meanwhile. ErrRefused is not
	// proof that the directory is missing, nor is an empty list that it is empty. A server's
	// listing is bounded (backend.Haul).
	List(ctx context.Context, name string) ([]string, error)
	// Await returns after d, when ctx ends, or sooner if it can notice that the
	// name goes away, something in it does, or the process ends. "" and a process 0
	// stand for none. It promises nothing but not to return much later.
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

// A Disk is a Dir that only this machine changes, whose kernel knows which processes live.
// There a lock in plain style can be taken in one step, and an empty one of ours is told
// from that of a program that uses mkdir alone, so that no crash leaves half a lock for good.
//
// An error that is errors.ErrUnsupported says that this place cannot do it.
type Disk interface {
	Dir
	// RenameNew renames a directory to a name that nothing has.
	RenameNew(ctx context.Context, from, to string) error
	// Stake marks a directory of our own for what becomes of it, and pins it.
	Stake(ctx context.Context, name string) (io.Closer, error)
	// Pin keeps a directory, by whatever name, from being abandoned until it is closed or
	// our process ends.
	Pin(ctx context.Context, name string) (io.Closer, error)
	// RemoveAbandoned removes a directory that is empty, is marked, and has no pin.
	// Otherwise it is refused, with ErrTended if it is marked.
	RemoveAbandoned(ctx context.Context, name string) error
}

// An Entry is something in a directory.
type Entry struct {
	Name string
	Dir  bool
	// Modified is by the server's clock, in a zone of its own: to be compared only
	// with another of the same server. Zero if it did not say.
	Modified time.Time
	Precise  bool // to the second; else to the minute, or the day if it is old
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

	// ErrTended: a process that lives is to remove it, or to take it.
	ErrTended = errors.New("a locksmith on this machine is about to remove it")
)

// Refused reports that a call was refused.
func Refused(err error) bool { return errors.Is(err, ErrRefused) }

// Unclear reports that a call may or may not have had its effect.
func Unclear(err error) bool { return errors.Is(err, ErrUnclear) }

// Forbidden: a server of SMB says so of the rename of a directory, too, as long as somebody reads
// in it.
func Forbidden(err error) bool { return backend.IsErrno(err, syscall.EACCES) }

// An outcome is an error of the system and which kind it is of.
type outcome struct{ kind, cause error }

func (o outcome) Error() string   { return o.cause.Error() }
func (o outcome) Unwrap() []error { return []error{o.kind, o.cause} }

// Outcome sorts an error of a file system's call into those that Dir knows. A call
// that says that something is or is not there is one refused: whose it is, our own
// id finds out, because a server that crashed says so of what was our own work.
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

// Passing reports that an error may pass: nothing is known about the lock at the moment.
func Passing(err error) bool {
	return Unclear(err) || errors.Is(err, ErrBusy) || backend.Passes(err)
}

// An Examiner is a Dir with checks of its own, for what only its kind of place has.
type Examiner interface {
	Dir
	// Examine tells of them, for the directory named. What takes long goes on beside
	// the other checks: the function that it returns, if any, is called after them
	// and tells of it, or is not called at all when ctx ends before.
	Examine(ctx context.Context, name string, e backend.Examination, tell backend.Tell) (rest func() error, err error)
}

// A Rooted Dir is one on a file system.
type Rooted interface{ Root(name string) string }

// A Reader is a Dir in which a directory can be kept open, as it is by who lists it.
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
	// ErrRevived: an entry that we took for a dead one's got a new heartbeat.
	ErrRevived = errors.New("its holder lives")
)

// NotOwner is the error where mayRemove is false.
func NotOwner(lock backend.Name, op string) error {
	return lock.Failure(protocol.Permission, op, errors.New("in a sticky directory only its owner may remove it"),
		"let its owner do it, or root")
}
