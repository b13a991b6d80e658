// Package mkdirlock locks with directories alone: mkdir, rmdir, rename and a
// listing, over a small interface (Dir). On file systems it is the backend mkdir:,
// on FTP servers ftp: and ftps:.
//
//	L.r.<ticket>/x.<ticket>/   reservation, about to replace L
//	L/x.<ticket>/              L is held; the entry's name never changes
//	L/x.<ticket>/<n>.…         its heartbeat, renamed to the next n; and its record
//
// It stands on two facts, which hold on NFS and on all FTP servers that were tried
// (doctor looks): making a directory has one winner, and a directory in which there
// is something is never replaced by a rename.
//
// An attempt begins by making a directory and removing it again, two requests, so that no
// part of a lock is made where nothing can be removed. There the directory stays, and is
// remembered, so that later tries do not leave one more each.
//
// In plain style L itself is the lock. It excludes, and is excluded by, any program
// that makes L and removes it. To acquire it, make L, which is the gate, and rename the
// reservation onto it, which is the commit. To release it, remove the entry and then L. To
// break a dead holder, remove its entry, which has one winner. An empty L is owned by the
// process that made it, or whose removal of the entry succeeded; nobody else may touch it.
// After an unclear answer to making or removing L itself the request is not repeated, while
// an entry can be found by its ticket.
//
// On a disk of this machine (Disk) one rename is both gate and commit. Each L was a
// reservation, which its maker has marked and pinned. A pin is a kernel lock, which ends
// with its process. Before somebody else's entry is removed, L is pinned. So every process
// that may own an empty L has a pin on it, or is gone; an L with the mark and without a pin
// is abandoned, and whoever wants the lock removes it.
//
// In dir style L stays, and L/lock is the lock:
//
//	L/r.<ticket>/x.<ticket>/   reservation
//	L/lock/x.<ticket>/         held exclusively
//	L/lock/s.<ticket>/         shared, or waiting for x to go
//	L/fence.<n>                the newest is the fencing token
//	L/done.<n>.…               the last success (success.go); no part of the lock
//	L/broken.<lease>-<id>.…    who broke that acquisition by hand (note.go); no part of the lock
//
// An empty L/lock is free. To acquire it exclusively, rename the reservation to it and
// make sure that the entry is there. To share it, make an entry in it, so that it is not
// empty any more, and then look whether there is an x.
//
// All that is removed carries a ticket, which names one acquisition and is never
// used twice, except an empty L of plain style. A holder is dead by proof
// (owner.Record.Verdict) or after a whole lease without a heartbeat, as watched on
// the observer's own clock. No holder relies on an empty entry in the lock: its owner has
// not sent its first heartbeat yet, or is releasing, and may have died there. After a few
// seconds it is removed, too, by an rmdir that fails if a heartbeat has got there after all.
// So waiters that never go by a lease (--strict) are not stuck either.
//
// What it cannot do: in plain style, except on a Disk, an empty L may be the lock of a
// program that uses mkdir alone, or be left by a crash or a lost answer between two requests
// that change L, and nothing tells the two apart. It stays until a person or Reap removes it
// by age. Other machines that use a Disk over an export of it have no pins: after one of
// them has removed a dead holder's entry, L may be removed here as abandoned and made again
// by a script; then the other machine removes or replaces the script's lock.
//
// Nor is a plain L safe from a server that executes a request to make or remove it a second
// time, as NFS may after a crash: a second mkdir leaves an empty L; a second rmdir may
// remove the lock of a program that uses mkdir alone. Nothing is promised where a server
// lies about mkdir or rename, or shows an old listing.
package mkdirlock
