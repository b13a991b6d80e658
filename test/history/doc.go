// Package history kills programs that hold locks, and their helpers, at random, and
// judges from an independent record whether the locks kept what README promises.
//
// # Running it
//
//	go test -v ./test/history
//	go test -v ./test/history -kills 20000 -kinds 'nfs|link' -timeout 1h
//	go test -v ./test/history -long -timeout 2h
//
// The last kills 100,000 times. -seed repeats what was decided by chance: what each
// contender does in each of its rounds, and who is killed when, counted from an event of
// that round. What comes of it depends on the machine, too.
//
// # How it works
//
// Every lock, or set of two, has some contenders. Each is a real process (parent), which
// uses package client, and so has a real helper. It takes its locks, stays, releases, and
// begins again. It tells the recorder, which is the test itself, all it does over a
// socket, and is inside only once that was answered. So a section lasts from the receipt
// of "enter" to the receipt of "leave", or to when the parent was killed or its connection
// ended, by the clock of the recorder alone, and no delay makes two of them overlap.
//
// Only a section that was lost ends when its parent was told, by the same clock: for the
// next holder does not wait until that news has arrived. If the machine did not let the
// parent run for 0.2 s or longer before, it ends where that began, for nobody's own clock
// warns it then. How often this made a difference is counted and printed.
//
// Of the rounds of each contender four in five come to harm (schedule): kill -9 of the parent,
// of the helper, or of both, or a stop of the helper for shorter or longer than the lease,
// while they start and wait, while they are inside, or while they release. A lock that
// nobody has had for one and a half leases is spared until somebody has.
//
// In plain style of mkdir: and ftp: a helper that dies between two steps may leave an
// empty directory, which only age frees. There the test is the operator who runs reap,
// and says how often.
//
// # What is wrong
//
//   - two sections of a lock overlap, unless both are shared
//   - a fencing token does not rise with the sections in their order, or some sections
//     have none; only those who share a generation of the lock share its token
//   - an id comes twice
//   - somebody wants a lock that nobody gets, though nobody was killed for long
//   - a helper outlives its parent by far
//   - a helper fails for a reason that neither an injection nor a slow machine explains
//
// The first two are judged by package holds. TestBroken judges the judge, with three broken
// locks.
//
// # What it cannot show
//
// All is on one machine and a local disk, and the servers are in the test's process. A
// parent is never stopped: it would not know what it lost.
package history
