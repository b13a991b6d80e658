// Package local locks with a lock file on one machine: "local:/path".
//
// Purpose: one holder at a time among the processes of one machine, where the kernel itself knows
// which process died. Exclusive only.
//
// The lock is held while the file exists. The file is made with O_CREAT|O_EXCL, so it excludes
// every tool that makes lock files that way, and is excluded by them. Its first line is the
// helper's pid in decimal, for tools that read pid files. Its second line is the owner record. As
// long as the holder lives, it also has a kernel lock (flock) on the file, which the kernel drops
// when the holder dies. Whoever wants to remove the file first takes that kernel lock, then makes
// sure that the path still names the file it locked, and removes the file before letting go. So:
//
//   - a file is never removed while somebody else has its kernel lock;
//   - when several waiters find the same dead holder, none of them removes the new
//     file of the one that was first.
//
// Waiters sleep in the kernel. The first two watch the lock: they wake when the file goes
// (inotify), when the process that keeps it dies (pidfd), or when its lease is over. All others
// sleep in the kernel's queue for the file's kernel lock, which a release gives to one of them
// (queue_linux.go). That one makes the next file. Until its own release it also keeps the kernel
// lock of the old file, so that those behind it sleep on (baton.go). So a release wakes three or
// four waiters, however many there are. A process that waits for several locks only watches: it
// would need a thread to sleep in each queue. Where the kernel cannot wake those who watch, they
// look once a second: the file is not readable, or only the queue would tell, as after flock(1).
// Those who find no instance of inotify left wake when the holder's helper ends. It may serve other
// locks first, so they look as well: after 10 ms, and then after twice as long each time, up to half
// a minute.
//
// Waiters get the lock in about the order in which they came, less so in queues of many hundreds.
// The order is not promised. A process that comes when the lock is free takes it, those who watch
// are woken first, and a waiter that was stopped begins at the end.
//
// A waiter that is stopped holds up nobody, with one exception. While it sleeps, the kernel takes
// it out of the queue. If it is stopped after a release has woken it and before it has made its
// file, those who watch take the lock. Those who sleep look by themselves: after two seconds at
// most, and then after twice as long each time, up to a minute. They look as seldom for what is
// done to the file by hand.
//
// The exception is a holder that died. Only a process that has the kernel lock of its file can
// remove the file. The kernel gives that lock to the first waiter that sleeps for it, or to the
// first that looks. If that waiter is stopped before it has removed the file, everybody waits
// until it goes on or is killed. Break says so, and how to find it: fuser(1).
//
// Files of other tools have no kernel lock and no record. A file with just a pid is held while
// that pid exists, even if another process has the pid by now, which such a file cannot tell. Any
// other file, such as the empty one that flock(1) leaves, is held by somebody unknown until it is
// removed. Our own files without a record yet differ from those by the sticky mode bit, with
// which they are created. On macOS and the BSDs, where creation cannot set it, they are
// executable and not writable for their owner.
//
// The file of a flock: lock (package flock) holds a record, too, and is respected as such a file of
// another tool is.
//
// Caveats. The lock needs flock that works and a file system that one machine uses alone: network
// and FUSE file systems are refused unless the address says "?fs=any". A world-writable directory
// without the sticky bit is refused unless the address says "?dir=any". Whoever may write to the
// directory can remove the lock file; the holder learns it at its next heartbeat. If that happens
// while the holder releases, or while somebody removes a dead holder's file, the file of the next
// holder may be removed too, which learns it in the same way. Whoever may read the file can keep
// a crashed holder's lock from being broken, by keeping a kernel lock on the file.
//
// Nobody breaks a holder that lives, however long it is stopped, because the kernel keeps its
// lock for it. So a helper that was stopped (SIGSTOP) for longer than its lease looks when it
// wakes. If the path still names its file, the helper goes on; else the lock is lost. With
// "?fs=any" the lock is lost in any case, because a server may have dropped the kernel lock
// meanwhile.
//
// A second file with ".done" after its name may be beside the lock file. It holds the last
// success of what the lock guards (package lockfile) and is no part of the lock.
//
// On Windows the kernel lock is on a byte far behind the text, two attributes mark a file as
// ours, the rights to the directory are not examined, and waiters look once a second. Where the
// system cannot do better, a removed file goes only when the last process closes it. Until then
// nobody gets the lock.
package local
