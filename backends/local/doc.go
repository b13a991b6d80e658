// Package local locks with a lock file on one machine: "local:/path".
//
// Purpose: one holder at a time among the processes of one machine, where the
// kernel itself knows which process died. Exclusive only.
//
// The lock is held while the file exists. It is made with O_CREAT|O_EXCL, so
// every tool that creates lock files that way excludes us and is excluded. Its
// first line is the helper's pid in decimal, for tools that read pid files; its
// second line is the owner record. All its life the holder also keeps a kernel
// lock (flock) on it, which the kernel drops when the holder dies. Whoever
// wants to remove the file takes that kernel lock first, makes sure the path
// still names the file it locked, and removes it before letting go. So:
//
//   - a file is never removed while somebody else has its kernel lock;
//   - when several waiters find the same dead holder, none of them removes the new
//     file of the one that was first.
//
// Waiters sleep in the kernel. The first two watch the lock: the file goes (inotify), the
// process that keeps it dies (pidfd), or its lease is over. All others sleep in the kernel's
// queue for the file's kernel lock, which a release gives to one of them (queue_linux.go).
// That one makes the next file, and keeps the kernel lock of the old one until its own
// release, so that those behind it sleep on (baton.go): a release wakes three or four
// waiters, however many there are. Who waits for several locks only watches: it would need a
// thread to sleep in each queue. Where the kernel cannot wake those who watch (the file is
// not readable, or only the queue would tell, as after flock(1)), they look once a second.
//
// The order is about that in which they came, less so in queues of many hundreds, and is not promised: whoever comes when the
// lock is free takes it, those who watch are woken first, and whoever was stopped begins at
// the end.
//
// A waiter that is stopped holds up nobody, with one exception. While it sleeps, the kernel
// takes it out of the queue. If the holder releases and the waiter is stopped between being
// woken and making its file, those who watch take the lock, and those who sleep look by
// themselves: after two seconds at most, and then after twice as long each time, up to a
// minute. They look as seldom for what is done to the file by hand.
//
// The exception is a holder that died. Its file can be removed only by whoever has its kernel
// lock, and the kernel gives that to the first who sleeps for it, or to the first who looks.
// If that one is stopped in the moment before it has removed the file, everybody waits until
// it goes on or is killed. Break says so, and how to find it: fuser(1).
//
// Files of other tools carry no kernel lock and no record. One that holds just
// a pid is held while that pid exists, even if another process has it by now, which
// such a file cannot tell. Any other file, such as the empty one that flock(1) leaves,
// is held by somebody unknown until it is removed. Our own files without a record yet
// are told from those by the sticky mode bit, which they are created with; on macOS and
// the BSDs, where creation cannot set it, by being executable and not writable for
// their owner.
//
// With "?empty=free" whoever has the kernel lock has the lock, as with flock(1), and the
// file stays: a helper that gets the kernel lock of an empty file, or of a dead holder's,
// writes its record into that file, and empties it before it lets go. It is never
// unlinked, for flock(1) does not look whether the path still names the file it locked.
//
// Caveats. It needs flock that works and a file system that one machine uses
// alone: network and FUSE file systems are refused unless the address says
// "?fs=any". Whoever may write to the directory can remove the lock file; the
// holder learns it at its next heartbeat. If that happens in the moment in which
// the holder releases, or in which somebody removes a dead one's file, the file of
// the next holder may be removed too, which learns it in the same way. A world-writable directory without
// the sticky bit is refused unless the address says "?dir=any". Whoever may
// read the file can keep a crashed holder's lock from being broken, by keeping
// a kernel lock on it.
//
// Nobody breaks a holder that lives, as the kernel keeps its lock for it, however
// long it is stopped. So a helper that was stopped (SIGSTOP) for longer than its
// lease looks when it wakes: if the path still names its file, it goes on, and else
// the lock is lost. With "?fs=any" the lock is lost in any case, for a server may
// have dropped the kernel lock meanwhile.
//
// Beside the file there may be another with ".done" after its name, which holds the last
// success of what the lock guards (success.go) and is no part of the lock.
//
// On Windows the kernel lock is on a byte far behind the text, two attributes mark a file
// as ours, the rights to the directory are not examined, and waiters look once a second.
// Where the system cannot do better, a removed file goes only when the last process closes
// it; until then nobody gets the lock.
package local
