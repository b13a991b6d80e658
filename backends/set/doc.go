// Package set takes several locks, of any kinds, all or none (Set), or whichever of them is
// free first (Any). What follows is about all or none.
//
// # Promises
//
// A set is held when all its locks are, each in its own mode. Until then, and
// after any failure, none of them stays behind. The loss of one is the loss of
// the set. A lock that is named twice, in whatever spelling, is taken once.
//
// # How it waits
//
// A set tries one lock after the other, in an order that is the same for every
// set (Lock.Key). Where one is refused, there are two ways to go on:
//
//   - Try all and back off: give back what is held, wait for the one that was
//     refused while holding nothing, and begin with that one. No set waits
//     while it holds a lock, so none can wait in a circle, whatever the orders;
//     and sets without a lock in common never hinder each other. But where each
//     of the locks is rarely free, all of them hardly ever are at the same time.
//   - Ordered holding: keep what is held while waiting for the next one. There is
//     always progress, but a set that waits keeps others waiting that could run,
//     and those again others. And two hosts that mount the same directories in
//     different places can disagree on the order, and then wait in a circle.
//
// A set backs off, and after Policy.Refusals times it holds on: it holds in order,
// for Policy.Hold at most, and then backs off again. So a circle opens by
// itself. To be refused again by the lock that it waits for, with nothing held, does not
// count: a set that holds on may be sent to wait elsewhere, and a holder that is dead by its lease
// must be watched without a break. In the benchmark of this package
//
//	go test ./backends/set -run - -bench . -benchtime 1x
//
// backing off has more sets at work wherever they meet only in part, ordered holding
// has the shorter longest wait (a large set among single locks may never be had by
// backing off alone), and the mix has as many at work, with a wait that has an end.
//
// # Any
//
// Any waits for all its locks at once, and tries those that may be free one after the other.
// One whose place does not answer is left out, for a second at first and for half a minute at
// last, and then tried again; one that can never be had stays out. Members of either kind
// wait without a thread of their own (backend.Request.Several), so that many locks need few
// threads, and two or three descriptors each.
//
// # Caveats
//
// That two names are the same lock is found out by their path, symbolic links
// followed, or by meeting ourselves as its holder, which is an error. So the same path
// of two users of an FTP server is two locks where each has a home of its own, and an
// error where it is one directory. A lock that says nothing about its holder for the
// moment, such as an empty directory of mkdir:, or that the other user may not read, is
// waited for.
package set
