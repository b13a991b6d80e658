package local

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/lockfile"
)

// A System is what an attempt asks the kernel for. All that processes can do to each other
// goes through it and its files: so the explorer, which has a System of its own, can let them
// do it in every order.
type System interface {
	// Create makes the lock file, which was not there.
	Create() (File, error)
	// Open opens what is there.
	Open() (File, error)
	// Close ends what Poll has left open.
	Close()

	// Queue lets a thread sleep in the kernel's queue until the kernel lock of the file is
	// ours. Then, or when it cannot be, it calls given.
	Queue(f File, given func(error))
	// Seat takes one of some seats at the file, if one is free (lockfile.File.Seat).
	Seat(f File, seats int64) (bool, error)
	// Poll sleeps until something happens to what is at the path, or to its holder.
	Poll(ctx context.Context, w Watched) error
	// Rest sleeps until the bell rings, at most for timeout.
	Rest(ctx context.Context, bell <-chan struct{}, timeout time.Duration) error
	// Random returns some duration below limit.
	Random(limit time.Duration) time.Duration
}

// A Watched is what a waiter watches.
type Watched struct {
	// Still reports that the path still leads to what the last look saw. It is asked once
	// the file is watched.
	Still   func() bool
	Process watchedProcess
	Events  uint32 // of inotify(7)
	Timeout time.Duration
	// Several: this is one of many that the process waits for, so it keeps as few
	// descriptors as it can.
	Several bool
	// Pause is how long to sleep at most where something cannot be watched, for which there
	// is a usual time.
	Pause func(usual time.Duration) time.Duration
}

// A File is an open file that is the lock, or was it. See lockfile.File.
type File interface {
	Stat() (lockfile.Stat, error)
	Read(limit int) (string, error)
	Write(text string) error
	Truncate() error
	Mark(on bool)
	TouchQuietly() error
	TryLock() (bool, error)
	LockWithin(time.Duration) (bool, error)
	Unlock() error
	Named() error
	Unlink() error
	Close() error
}

var _ File = (*lockfile.File)(nil)

// A machine is the System of one attempt on this machine.
type machine struct {
	lock     *Lock
	clock    clock.Clock
	notifier notifier
}

// Create implements System.
func (m *machine) Create() (File, error) { return file(lockfile.Create(m.lock.path)) }

// Open implements System.
func (m *machine) Open() (File, error) { return file(m.lock.open()) }

// Close implements System.
func (m *machine) Close() { m.notifier.Close() }

// file is a File that is nil if there is none.
func file(f *lockfile.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
