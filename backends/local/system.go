package local

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/lockfile"
)

// A System is what an attempt asks the kernel for. All that processes can do to each other goes
// through a System and its files. So the explorer, with a System of its own, can let them do it
// in every order.
type System interface {
	// Create makes the lock file, if there is none.
	Create() (File, error)
	// Open opens the file that is there.
	Open() (File, error)
	// Close ends what Poll has left open.
	Close()

	// Queue lets a thread sleep in the kernel's queue for the kernel lock of the file. It calls
	// given when the lock is ours, or when the thread could not get it.
	Queue(f File, given func(error))
	// Seat takes one of the seats at the file, if one is free (lockfile.File.Seat).
	Seat(f File, seats int64) (bool, error)
	// Poll sleeps until something happens to the file at the path, or to its holder.
	Poll(ctx context.Context, w Watched) error
	// Rest sleeps until the bell rings, at most for timeout.
	Rest(ctx context.Context, bell <-chan struct{}, timeout time.Duration) error
	// Random returns a random duration below limit.
	Random(limit time.Duration) time.Duration
}

// A Watched is what a waiter watches.
type Watched struct {
	// Still reports whether the path still leads to what the last look saw. Poll asks once it
	// watches the file.
	Still   func() bool
	Process watchedProcess
	Events  uint32 // of inotify(7)
	Timeout time.Duration
	// Several: the process waits for many locks, so this one keeps as few descriptors as it can.
	Several bool
	// Pause is how long to sleep at most where something cannot be watched, given the usual time
	// for that.
	Pause func(usual time.Duration) time.Duration
	// Nap is how long to sleep where only the end of the process tells of a release.
	Nap func() time.Duration
}

// A File is an open file that is the lock, or was it once. See lockfile.File.
type File interface {
	Stat() (lockfile.Stat, error)
	Text() (string, error)
	Write(text string) error
	Share() error
	TouchQuietly() error
	TryLock() (bool, error)
	LockWithin(time.Duration) (bool, error)
	Named() error
	Unlink() error
	Close() error
}

var _ File = (*lockfile.File)(nil)

// A machine is the System of one attempt on this machine.
type machine struct {
	lock    *Lock
	clock   clock.Clock
	inotify inotify
}

// Create implements System.
func (m *machine) Create() (File, error) { return file(lockfile.Create(m.lock.path)) }

// Open implements System.
func (m *machine) Open() (File, error) { return file(open(m.lock.path)) }

// Close implements System.
func (m *machine) Close() { m.inotify.Close() }

// file returns f, and a nil File after an error.
func file(f *lockfile.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
