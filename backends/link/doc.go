// Package link locks with a lock file made by a hard link, "link:/path", to live with the tools
// that people have: dotlockfile and all that use liblockfile, procmail's lockfile,
// lockfile-progs, flufl.lock, File::NFSLock where it locks exclusively, and ln in a script.
// Exclusive only.
//
//	L               the lock is held while this file exists
//	L.claim.<id>    the file of a locker; the lock is a link to the winner's
//	L.brk.<id>.<n>  a link to the claim of a breaker, which removes the dead holder's lock <id>
//
// The first line of each file is the helper's pid in decimal, for tools that read pid files, and
// the second the owner record. A program that links a file to L, or makes L with O_CREAT|O_EXCL,
// excludes us and is excluded. The answer of link(2) may be lost or repeated, so it does not
// count. What counts is what is there: L has our file's number, and the file counts two links. A
// file system where the two disagree is refused.
//
// A holder keeps its file open and sets the time of the open file, so it never touches a
// successor's. Between two heartbeats it makes sure that L still is its file. With
// "?touch=ahead" the time is a lease ahead, for flufl.lock, which takes it for the time when the
// lock ends.
//
// A holder is dead in three cases. Proof: owner.Record.Verdict. Age: the file's time is more
// than a lease before that of a file just made on the same server, and then nothing about it
// changes while we watch it for the grace period. Silence: nothing changes while we watch it for
// a whole lease, whatever its time. No time of a server is compared with a clock of ours. A file
// of another tool has the lease that its waiter asked for. Its pid says nothing, because it may
// be of any machine, unless the address says "?pids=local", for a directory that one machine
// uses alone. Then the pid alone decides, and a holder from before the machine was last started
// is dead. What is not a regular file is never removed, and never followed.
//
// Breakers queue. The first that finds a holder dead wins the right to remove the lock, by
// linking its claim to L.brk.<id>.<n>. Then it looks again, and removes the lock. A later
// breaker waits, or goes on with <n+1> when the one before it is dead as well. Ids are not used
// again, and entries go only when the lock is no longer the dead holder's. So among locksmiths,
// however long one of them is paused, breaking by proof never removes any lock but that of the
// dead holder.
//
// What it cannot do. All its users share the name L, so no rule makes it safe to break by age. A
// holder that was paused for longer than its lease, between the look whether L is its own and
// the removal, removes that of its successor. So does a breaker that others took for dead by
// age. The same goes for a request to remove L, or a breaker's turn, that a server executes
// late, for an operator's break, and for the other tools, which know nothing of our turns and
// all break by age. Where that matters, use --strict, or another kind of lock. Waiters are not
// served in order.
//
// It needs hard links, and file numbers that do not change: not vfat and exFAT, nor many FUSE
// file systems (doctor looks). Whoever may write to the directory can remove the lock; the
// holder learns it at its next heartbeat. A world-writable directory without the sticky bit is
// refused unless the address says "?dir=any". In one with it, only its own user may remove a
// dead holder's lock.
package link

import "time"

// The times that are usual among those who use such locks: those of the Tcl original, and
// of the tools that it lived with.
const (
	UsualLease   = time.Hour
	UsualRefresh = 8 * time.Second // between two heartbeats
	usualRespite = 30 * time.Minute
)
