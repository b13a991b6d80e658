//go:build unix

// Package flock locks with the kernel's flock(2): "flock:/path". The lock is that of flock(1),
// setlock, and of all scripts and programs that call flock(2) on the same file.
//
// Purpose: one holder at a time among the processes of one machine, or several that share the
// lock, in company with those tools.
//
// Whoever has the kernel's lock on the file has the lock. The file is made if it is not there,
// and never removed or replaced. It may be anything that can be opened for reading: a directory,
// a script, a device. No lease decides, no proof of death is needed, and nobody breaks a lock: a
// process takes it with a descriptor of the file, and the kernel frees it when no process has that
// descriptor any more.
//
// Four rules keep that so:
//
//   - A holder lets go by closing its descriptor, never by LOCK_UN, and never converts the lock
//     from shared to exclusive or back. A lock belongs to the open file description: to unlock
//     it here would free it for the command that inherited it, and an upgrade that is refused
//     loses the shared lock. A descriptor that was refused has no lock, and may ask again.
//   - A process that just looks never takes the lock. Otherwise a job of flock -n would be left
//     out because somebody looked. What /proc shows (package flocks) is enough.
//   - A thread that sleeps in flock(2) cannot be woken, and may be given the lock after its process
//     gave up. So a waiter sleeps there only if it waits for one lock, and if its process ends when
//     it gives up. All others watch (backend.Request.Several): inotify tells them that somebody
//     closes the file, and once a second they look by themselves.
//   - A lock counts if the path leads to the file that was locked. Otherwise the attempt lets the
//     lock go, and begins anew.
//
// A waiter that sleeps needs no look to get the lock. It looks only so that it can say who has the
// lock, and as seldom as that allows (looker).
//
// While the lock is held, somebody may rename or replace the file. Then others lock the new one.
// A holder finds that at its next heartbeat, or when it lets go. That is a loss. But if a command has
// inherited the lock's descriptor from the holder (backend.KeptHold), a heartbeat only tells the
// holder (backend.Request.Moved), so the command ends by itself before the loss counts.
//
// Records: an exclusive holder writes its record (package owner, with kind=flock) into the file,
// if that is a regular file which the path itself names, and is empty or holds one such record
// and nothing else. The record stays when the lock is free. It counts while the process on
// record has the file locked, or has ended and others keep the lock that it took. A script's
// "exec 9>FILE" empties the file; a heartbeat writes the record again. Nothing depends on the
// record, so it is no failure if it cannot be written.
//
// Caveats. Network and FUSE file systems are refused unless the address says "?fs=any". On
// systems without Linux' /proc the kernel tells only that somebody has the lock, only the record
// tells who that may be, and nothing tells how many wait. Whoever may read the file can lock it,
// and so keep others out.
//
// Beside the file there may be another with ".done" after its name. It holds the last success of
// what the lock guards (package lockfile), and is no part of the lock.
package flock
