// Package flocks tells who has the kernel's lock (flock(2)) on a file and who waits for it, as
// far as /proc shows that. It never takes the lock: whoever asks for it with flock -n at that
// moment would be refused because somebody looked.
//
// Who has the lock is whoever has its descriptor. That may be another process than took it, or
// one more: a script hands its descriptors on to what it starts. So all descriptors are looked
// through that this user may look at. /proc/locks adds who took a lock, which may be gone, and
// who sleeps in the kernel's queue. It leaves out other pid namespaces, and on Btrfs it shows
// another device.
package flocks

import (
	"slices"

	"locksmith/backends/process"
)

// A Seen is what the kernel shows of one file. What it does not show there may be all the same.
type Seen struct {
	Takers  []int    // the processes that took the lock, any of which may be gone
	Alike   int      // locks of a file of this number on another device: on Btrfs, say, it may be this one
	Keepers []Keeper // those that have its descriptor, among those that we may look at
	Waiters []int    // those that sleep until they get it
	Seats   int      // how many watch the file, and have a byte of it locked to tell so (lockfile.Seat)
	Sitters []int    // whose those are, among the processes that we may look at
	Shared  bool     // it is locked in common
	Unnamed bool     // somebody has it, and this kernel does not tell who
}

// A Keeper is a process that has the descriptor of a lock.
type Keeper struct {
	process.Process
	Taker int // the process that took the lock; 0: it cannot be seen from here
}

// Waiting is how many wait at least. A process may watch the file while a thread of its own
// still sleeps, and is one waiter.
func (s Seen) Waiting() int {
	all := slices.Concat(s.Waiters, s.Sitters)
	slices.Sort(all)
	return max(len(slices.Compact(all)), s.Seats)
}

// Held reports that somebody has the lock.
func (s Seen) Held() bool { return s.Unnamed || len(s.Takers)+len(s.Keepers) > 0 }
