//go:build unix

// Package nfs locks in a directory that several hosts share: "nfs:/dir/name".
//
// Purpose: exclusive and shared locks between hosts that have only the shared file system in
// common: no lock server, no lockd. The path names a directory, which is made on demand and
// stays; the lock is what is in it. Package symlinks has the algorithm, and says what is in that
// directory.
//
// Promised, on any file system where mkdir, symlink and rename are atomic and a directory opened
// anew is read as the server has it: one exclusive holder or any number of shared ones; a token
// that rises with every exclusive holder and every first shared one; dead holders are removed, at
// once by waiters on their host, and after a lease by waiters elsewhere, wherever in the queue
// those are. Measured on NFSv3, 4.0, 4.1 and 4.2 of Linux with default mount options, and on ext4
// and tmpfs.
//
// Waiting is polling. The first in the queue looks every 1 ms, growing to 250 ms. The others look
// the more seldom the more wait before them, up to every 30 s, so that the server's load hardly
// grows with the queue. On one host, and on a local disk, a release wakes the next waiter at
// once, however many there are: by a socket without a file, in the abstract namespace of unix(7).
// Waiters that cannot hear that, in another network namespace or of an older locksmith, are woken
// by inotify and pidfd.
//
// Caveats. All must use one lock directory of one server, under whatever path. If the file system
// is not mounted, a lock directly below the mount point is made anew, and only this host sees it.
// Put it one directory deeper; or say "?fs=network", which refuses every directory that is not on
// a network file system, or "?create=no". Symbolic links must work (not so on vfat), and
// directories must keep times of at least a second's resolution. A mount with noac or
// lookupcache=none is not needed. Whoever may write in the directory can break any lock in it;
// removing the directory, or G/lock.<N> in it, by hand breaks the promise. A directory restored
// from a backup must not be older than its last use. A holder whose host cannot reach the server
// learns of nothing, but gives up at 3/4 of its lease by its own clock, before others may take
// over. Waiters that wait for less than the lease never break a holder that died on another host.
// When the server crashes and somebody else gets the lock before the holder has its answer, a
// release may be reported as a loss.
package nfs
