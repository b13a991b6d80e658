// Package flocks tells who has the kernel's lock (flock(2)) on a file and who waits for it, as
// far as /proc shows that. It never takes the lock, because a flock -n at that moment would be
// refused.
//
// Who has the lock's descriptor has the lock. That may be another process than took it, or one
// more: a script hands its descriptors on to what it starts. So the package looks through all
// descriptors that this user may look at. /proc/locks adds who took a lock, though that process
// may be gone, and who sleeps in the kernel's queue. It leaves out those outside of its pid
// namespace (proc_locks(5)), and on Btrfs it shows another device.
package flocks

import (
	"errors"
	"slices"

	"locksmith/backends/process"
)

// A Seen is what the kernel shows of one file. There may be more.
type Seen struct {
	Takers  []int    // the processes that took the lock, any of which may be gone
	Alike   int      // locks of a file with this number on another device, which on Btrfs, say, may be this file
	Keepers []Keeper // processes that have its descriptor, of those that we may look at
	Waiters []int    // processes that sleep until they get the lock
	Crowd   int      // how many sleep so, or do for a file with this number on another device
	Seats   int      // how many watch the file, and have a byte of it locked to tell so (lockfile.Seat)
	Sitters []int    // whose seats those are, of processes that we may look at
	Shared  bool     // the lock is shared
	Unnamed bool     // somebody has the lock, and this kernel does not tell who
	Hidden  bool     // the kernel may hide who has the lock, or waits for it: nobody seen does not mean nobody
}

// ErrHidden is wrapped by errors that say that the kernel shows no locks here, as where /proc is not
// mounted.
var ErrHidden = errors.New("the kernel does not show here who has locks")

// A Keeper is a process that has the descriptor of a lock.
type Keeper struct {
	process.Process
	Taker int // the process that took the lock; 0: it cannot be seen from here
}

// Waiting returns how many wait, at least. A process that watches the file while a thread of its
// own still sleeps counts once.
func (s Seen) Waiting() int {
	all := slices.Concat(s.Waiters, s.Sitters)
	slices.Sort(all)
	return max(len(slices.Compact(all)), s.Seats)
}

// Held reports whether somebody has the lock.
func (s Seen) Held() bool { return s.Unnamed || len(s.Takers)+len(s.Keepers) > 0 }
