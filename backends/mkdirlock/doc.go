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
// The first attempt of a process makes a reservation, removes it, and makes another, so
// that nothing of the lock is made where nothing can be removed. That is two requests in
// each attempt, whatever the style.
//
// In plain style L itself is the lock. It excludes, and is excluded by, any program
// that makes L and removes it. To acquire it, make L, which is the gate, and rename the
// reservation onto it, which is the commit. To release it, remove the entry and then L. To
// break a dead holder, remove its entry, which has one winner: the process whose removal
// succeeded owns the empty L, and nobody else may touch it. So does the process that made
// it. After an unclear answer to making or removing L itself the request is not repeated;
// an entry is found by its ticket.
//
// On a disk of this machine (Disk) one rename is gate and commit. Each L was a
// reservation, which its maker has marked and pinned. A pin is a lock of the kernel's,
// which ends with its process. Before the entry of another is removed, L is pinned. So
// every process that may own an empty L has a pin on it, or is gone; an L with the mark and
// without a pin is abandoned, and anybody who wants the lock removes it.
//
// In the style of directories L stays, and L/lock is the lock:
//
//	L/r.<ticket>/x.<ticket>/   reservation
//	L/lock/x.<ticket>/         held exclusively
//	L/lock/s.<ticket>/         shared, or waiting for x to go
//	L/fence.<n>                the newest is the fencing token
//
// An empty L/lock is free. To acquire it exclusively, rename the reservation to it and
// make sure that the entry is there. To share it, make an entry in it, so that it is not
// empty any more, and then look whether there is an x.
//
// All that is removed carries a ticket, which names one acquisition and is never
// used twice, except an empty L of plain style. A holder is dead by proof
// (owner.Record.Verdict) or after a whole lease without a heartbeat, as watched on
// the observer's own clock. An entry in the lock in which there is nothing belongs to
// nobody who relies on it: its owner died before its first heartbeat, or while it released.
// After a few seconds it is removed, too, by an rmdir that fails if a heartbeat has got
// there after all; so even those who never go by a lease (--strict) get on.
//
// What it cannot do: in plain style an empty L of a program that uses mkdir alone cannot be
// told from what is left of a crash, or of an answer that was lost, between two requests
// that change L, but on a Disk. It stays until a person or Reap removes it by age. Where
// other machines use a Disk as well, over an export of it, they have no pins: when one of
// them has removed a dead holder's entry, L may be removed here as abandoned, and be a
// script's by the time that it is removed or replaced from there.
//
// Nor is there a defence of plain L against a server that executes a request to make or
// remove it a second time, as NFS may after a crash: the one leaves an empty L; the other
// may remove the lock of a program that uses mkdir alone. Nothing is promised where a
// server lies about mkdir or rename, or shows an old listing.
package mkdirlock
