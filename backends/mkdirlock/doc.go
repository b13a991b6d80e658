// Package mkdirlock locks with directories alone: mkdir, rmdir, rename and a
// listing, over a small interface (Dir). On file systems it is the backend mkdir:,
// on FTP servers ftp: and ftps:.
//
//	L.r.<ticket>/x.<ticket>/   reservation, about to replace L
//	L/x.<ticket>/              L is held; the entry's name never changes
//	L/x.<ticket>/<n>.…         its heartbeat, renamed to the next n; and its record
//
// The algorithm stands on two facts. Of several that make the same directory one succeeds, and no
// rename replaces a directory in which there is something. Both hold on NFS and on all FTP
// servers that were tried; doctor checks them.
//
// An attempt first makes a directory and removes it again, by two requests: where nothing can be
// removed, no part of a lock is made. There this directory stays and is remembered, so that later
// tries do not each leave another.
//
// In plain style L itself is the lock. It excludes, and is excluded by, any program that makes L
// and removes it. To acquire it, make L, which is the gate, and rename the reservation onto it,
// which is the commit. To release it, remove the entry and then L. To break a dead holder, remove
// its entry, which has one winner. An empty L belongs to the process that made it, or whose
// removal of the entry succeeded; nobody else may touch it. After an unclear answer, a request to
// make or remove L itself is not repeated; an entry can be found by its ticket.
//
// On a disk of this machine (Disk) one rename is both gate and commit. Each L was a reservation
// that its maker has marked and pinned. A pin is a kernel lock, which ends with its process. A
// process pins L before it removes somebody else's entry. So every process that may own an empty
// L has a pin on it, or is gone. An empty L with the mark and without a pin is abandoned, and
// whoever wants the lock removes it.
//
// In dir style L stays, and L/lock is the lock:
//
//	L/r.<ticket>/x.<ticket>/   reservation
//	L/lock/x.<ticket>/         held exclusively
//	L/lock/s.<ticket>/         shared, or waiting for x to go
//	L/fence.<n>                the newest is the fencing token
//	L/done.<n>.…               the last success (shelf.go); no part of the lock
//	L/broken.<lease>-<id>.…    who broke that acquisition by hand (shelf.go); no part of the lock
//
// An empty L/lock is free. To acquire it exclusively, rename the reservation to it and
// make sure that the entry is there. To share it, make an entry in it, so that it is not
// empty any more, and then look whether there is an x.
//
// All that is removed carries a ticket, except an empty L of plain style. A ticket names one
// acquisition and is never used twice. A holder counts as dead if that is proven
// (owner.Record.Verdict), or if the observer has seen no heartbeat for a whole lease by its own
// clock. No holder relies on an empty entry in the lock: the entry's owner has not made its first
// heartbeat yet, or is releasing the lock, and may have died there. After a few seconds others
// remove such an entry, too, by an rmdir that fails if a heartbeat has got there after all. So
// waiters that never go by a lease (--strict) are not stuck either.
//
// What it cannot do: in plain style, except on a Disk, an empty L may be the lock of a program
// that uses mkdir alone, or what a crash or a lost answer left between two requests that change
// L. Nothing tells the two apart, so L stays until a person or Reap removes it by age. Other
// machines that use a Disk over an export of it have no pins. After one of them has removed a
// dead holder's entry, this machine may remove L as abandoned, and a script may make it again;
// then the other machine removes or replaces the script's lock.
//
// Nor is a plain L safe from a server that executes a request twice, as NFS may after a crash: a
// second mkdir leaves an empty L; a second rmdir may remove the lock of a program that uses mkdir
// alone. Nothing is promised where a server lies about mkdir or rename, or shows an old listing.
package mkdirlock
