// Package history kills programs that hold locks, and their helpers, at random. From an
// independent record it judges whether the locks kept what README promises.
//
// # Running it
//
//	go test -v ./test/history
//	go test -v ./test/history -kills 20000 -kinds 'nfs|link' -timeout 1h
//	go test -v ./test/history -long -timeout 2h
//
// The last line kills 100,000 times. -seed repeats what chance decided: what each contender does
// in each of its rounds, and who is killed when, counted from an event of that round. The outcome
// also depends on the machine.
//
// # How it works
//
// Every lock, or set of two, has some contenders. Each is a real process (parent), which uses
// package client and so has a real helper. It takes its locks, stays, releases, and begins again.
// Over a socket it tells the recorder, which is the test itself, all it does. It is inside only
// after the recorder has answered. So a section begins when the recorder receives "enter". It
// ends when the recorder receives "leave", or when the parent was killed or its connection ended.
// Only the clock of the recorder counts, and no delay makes two sections overlap.
//
// Only a section that was lost ends when its parent was told of the loss, by the same clock,
// because the next holder does not wait until that news has reached the recorder. If the machine
// did not let the parent run for 0.2 s or longer before that, the section ends where the pause
// began, because during a pause nobody's own clock gives a warning. The test prints how often
// this made a difference.
//
// The lock of flock: is free as soon as its helper is killed, before anybody can tell the parent
// (backends/README.md says so). So a section of it ends just before the kill of its helper. In one kind
// of cell every other contender has a helper of a few lines of sh, which locks with flock(1).
//
// In four of five rounds of each contender something goes wrong (schedule): kill -9 of the
// parent, of the helper, or of both, or a stop of the helper for shorter or longer than the
// lease. It happens while they start and wait, while they are inside, or while they release. A
// lock that nobody has had for one and a half leases is spared until somebody has it.
//
// In some cells each parent has a client.Pool (README.md has their figures).
//
// In plain style of mkdir: and ftp: a helper that dies between two steps may leave an empty
// directory, which only age frees. There the test is the operator who runs reap, and says how
// often.
//
// # An older version beside this one
//
// TestVersions does the same where every other contender has a helper of an older commit, so that
// holders, waiters and those who break are of both versions. The commit is pinned, and is made
// from the history of the checkout; a clone that lacks it says so and skips. s3: is mixed with -long
// only, with the commit that brought it.
//
// # What is wrong
//
//   - two sections of a lock overlap, unless both are shared
//   - fencing tokens do not rise in the order of the sections, or some sections have
//     none; only those who share a generation of the lock share its token
//   - an id comes twice
//   - somebody wants a lock that nobody gets, though nobody was killed for long
//   - a helper outlives its parent by far
//   - a helper fails for a reason that neither an injection nor a slow machine explains
//
// Package holds judges the first two. TestBroken tests the judge with three broken locks.
//
// # Others
//
// TestRivals, with -long, drives other tools' locks, and ours beside them, by a command line: each runs
// a command, the worker, under its lock. README.md beside this file has what became of them.
// TestRivalsOverNFS does so with hosts and an NFS server in a guest (package guest).
//
// # What it cannot show
//
// Everything is on one machine and a local disk, and the servers are in the test's process. A
// parent is never stopped, because it would not know what it lost.
package history
