// Package symlinks locks with numbered symbolic links in a directory that several hosts share. It
// is the algorithm, apart from the few calls of the file system that it needs (Dir).
//
//	G/lock.<N> -> ../R/x.<ticket>   generation N = 1, 2, 3…; N is the fencing token
//	R/x.<ticket>/                   exclusive reservation; also a place in the queue
//	R/s.<ticket>/<ticket>/          shared directory, one entry for each member
//	R/t.<ticket>/<ticket>/          a shared directory in the making; a place in the queue
//	R/i.<ticket> -> record          who that is: read by readlink, never opened
//	R/d.<N>-<id> -> record          the holder of generation N succeeded (shelf.go); no part of the lock
//	R/broken.<lease>-<id> -> note   who broke that acquisition by hand (shelf.go); no part of the lock
//
// Package generation says what an attempt does with them. Creating a symbolic link has exactly
// one winner.
//
// Everything that is removed carries a ticket. A ticket names one acquisition and is never used
// twice. So a removal that comes late, because a process was paused or a server repeats a
// request, finds nothing to hit. The well-known names, the generations, are never removed while
// they could matter, and never replaced.
//
// A holder counts as dead if that is proven (owner.Record.Verdict), or if the observer has seen
// no heartbeat for a whole lease by its own clock. A heartbeat sets the time of the holder's own
// reservation. A locker that was silent for a whole lease before its acquisition was complete
// starts again with a new ticket, because somebody may have decided to break the old one already.
//
// The queue is for fairness and not a rule of safety: when the lock becomes free, a waiter that
// is not the first leaves it to the others for a moment. Only the first in the queue asks often.
// How many calls a turn costs does not depend on how many wait: a waiter lists the queue when it
// joins, and then looks only at its predecessor and at the holder. Waiters on one host wake each
// other (bells.go).
//
// What it needs of the file system: mkdir, symlink and rename are atomic and
// have one winner; opening a directory anew and reading it shows at least what
// this host did there; statx asks the server. What breaks it: a cache between
// hosts that invents successes; a program that renames or removes what is not
// its own, above all lock.<N>; two servers behind one name.
//
// The steps in the code are numbered as in the comments of exclusive.go and
// shared.go.
package symlinks

import "locksmith/backends/backend"

// The two subdirectories of a lock directory.
const (
	Generations  = "G"
	Reservations = "R"
)

// Form is that of lock directories, by which they are known.
func Form() backend.Form { return backend.Form{Generations, Reservations} }
