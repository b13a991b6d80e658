// Package set takes several locks, of any kinds: all of them or none.
//
// # Promises
//
// A set is held when all its locks are held, each in its own mode. Until then, and after any
// failure, none of them stays behind. The loss of one lock is the loss of the set. A lock that is
// named twice, in whatever spelling, is taken once.
//
// # How it waits
//
// A set tries one lock after the other, in an order that is the same for every set (Lock.Key).
// When a lock is refused, there are two ways to go on:
//
//   - Try all and back off: give back what is held, wait for the refused lock while
//     holding nothing, and begin with that one. No set waits while it holds a lock, so
//     none can wait in a circle, whatever the orders; and sets without a lock in common
//     never hinder each other. But where each of the locks is rarely free, all of them
//     are hardly ever free at the same time.
//   - Ordered holding: keep what is held while waiting for the next lock. There is
//     always progress, but a waiting set keeps others waiting that could run, and those
//     again others. And two hosts that mount the same directories in different places
//     can disagree on the order, and then wait in a circle.
//
// A set backs off, and after Policy.Refusals refusals it holds on. It then holds in order, for
// Policy.Hold at most, and backs off again. So a circle opens by itself. A refusal does not count
// if it comes again from the lock that the set waits for, while the set holds nothing. Otherwise
// the set would hold on and might be sent to wait for another lock; but a holder that is dead by
// its lease must be watched without a break. In the benchmark of this package
//
//	go test ./backends/set -run - -bench . -benchtime 1x
//
// backing off has more sets at work wherever sets meet only in part. Ordered holding has the
// shorter longest wait: by backing off alone, a large set among single locks may never be taken.
// The mix has as many sets at work as backing off, with a wait that has an end.
//
// # Caveats
//
// Two names are found to be the same lock by their paths, with symbolic links followed, or
// because we meet ourselves as the holder, which is an error. So if two users of an FTP server
// name the same path, it is two locks where each user has a home of its own, and an error where
// it is one directory. If a lock says nothing about its holder for the moment, such as an empty
// directory of mkdir:, or if the other user may not read it, the set waits for it.
package set
