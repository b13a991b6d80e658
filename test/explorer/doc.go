// Command explorer is a model checker for the algorithms of the nfs: backend, and
// of mkdir:, ftp: and ftps:. It runs the real code, packages
// backends/nfs/generation and backends/mkdirlock, not a model of it: against a
// simulated directory on a simulated server, caches of several hosts, and a
// simulated clock. It lets everything happen that can happen, in every order, and
// looks whether the lock ever does what it must not.
//
//	go run ./test/explorer                      all configurations
//	go run ./test/explorer -config half -limit 5000000
//	go run ./test/explorer -config large-tick -seed 7 -walk 3145
//	go run ./test/explorer -config 'plain-.*|tree-.*' -limit 1000000
//	go run ./test/explorer -mutation 'no step 8'
//
// # What is explored
//
// A configuration (config.go) is two to four processes with what each does
// (acquire exclusively or shared, beat, sweep, release, again; or break
// somebody as the operator), on which host, and what the adversary may do how
// often. A small one is searched breadth first, to the end or to a number of
// states; a large one is walked through at random. "complete" says that nothing
// was left to explore, "cut at depth n" that all ways of n steps were.
//
// One step is one call to the server, one look at a clock, or one wait. Between
// any two steps of a process the others may take any number, so that every
// process may be paused anywhere for as long as the adversary likes. The
// adversary may, within its budget:
//
//   - crash a process;
//   - let time pass, by a moment, half a lease or a lease, between any two steps;
//   - lose a request, or its reply after it was executed: the caller gets EIO;
//   - crash the server after a request was executed, so that the repeated
//     request says EEXIST or ENOENT;
//   - let the server execute a request a second time, or for the first time
//     after the caller got EIO, at any later moment;
//   - answer from an outdated cache of the caller's host: ENOENT for a name that
//     another host made after this one had missed it, or what a symbolic link
//     held that is gone. Listing or looking at a directory refreshes its names,
//     as does a change made there by this host; a create asks the server always.
//     With tick, as on NFSv3 within one tick of the server's clock, nothing
//     refreshes a name but a change of its own, and a listing may be an old one
//     unless this host changed the directory since;
//   - change a directory while it is listed: what came or went meanwhile is
//     shown or not.
//
// It may not invent a success, have two winners of one create, or answer
// differently to what one host did itself.
//
// # What must hold
//
// Never two holders that exclude each other (a holder is valid from the moment
// Try returns until it begins to release, its lease is over by its own clock, it
// was told that the lock is gone, it crashed, or the operator broke it). Tokens
// rise. Whoever lost the lock to another is told so by its next call; nobody
// else is. Nothing is removed but by who made it, or when that one crashed, gave
// no sign of life for a whole lease, or the operator said so. No call fails
// unless a request was lost. And from every state that is sampled, if nothing
// else goes wrong, everybody ends, and after one more holder nothing is left but
// a few generations.
//
// # Locks of directories
//
// Their configurations (config_directories.go) are called after the style and the
// server: plain, tree and bare (a tree without tokens) are on a file system, with
// all that the adversary may do to requests; ftp sends each request once, and one
// that was given up may be executed later. ftp-refuse does not rename onto
// what is there, ftp-empty lists a missing directory as an empty one,
// ftp-refuse-lists refuses to list an empty one. Among the processes there may be
// scripts, which know mkdir and rmdir of the lock only; processes that take
// everybody else for dead; and operators who break those who wait.
//
// In plain style the lock is a directory that is somebody's even if it is empty:
// his who made it, or renamed his own onto it, or removed the last entry in it. To
// the properties above come these. Nobody else removes or replaces an empty lock.
// Who is given a hold had his entry when he began to try, and his lease is not
// over. While nothing goes wrong nobody who waits is swept. Nothing is left but,
// in the style of directories, the empty lock and a few tokens.
//
// What is allowed is an orphan, an empty lock that its owner cannot know to be
// his. He crashed; or the answer was lost to the request that made it his, or to
// that which should have removed it; or the server executed that request late; or
// an operator, or somebody who took him for dead, removed his reservation in the
// Try in which he made the lock. Where nobody gets on and the lock is an orphan, a
// person removes it; and then everybody must end. So nothing else ever stands in
// the way.
//
// What plain style cannot be defended against is a network that repeats requests
// to make or remove the lock itself, for there is no id in them. One that makes it
// leaves an orphan. One that removes it removes what is somebody else's by then:
//
//	1  P2: mkdir L, works, rmdir L; the network keeps a copy of the rmdir
//	2  P1: mkdir L: it is P1's
//	3  the server executes the copy: rmdir L
//	4  P3, a script: mkdir L: P3 holds
//	5  P1: rename L.r.P1 -> L, which is empty: P1 holds, too
//
// So these two requests are not repeated in any configuration but limit-dup and
// limit-dup-scripts, which are only searched if they are asked for. They may be
// executed late, after an answer was lost: until then the lock is its owner's, and
// he never asks again. But a person who removes an orphan while such a request is
// still on its way can meet the same fate.
//
// # How to read a counterexample
//
//	7  P1: list G: [lock.1]; P1 is stopped before it looks at its clock
//
// is step 7: process 1 lists G and the server answers lock.1; then it is paused.
// P1#2 is the second ticket of P1. Of a search it is one of the shortest there
// are; that of a walk was shortened, and is had again with the seed and the
// number that are printed with it. After "from here on nothing goes wrong"
// everybody takes turns, to show how it ends.
//
// # Mutations
//
// mutation.go lists ways to build the algorithm wrongly. Each is compiled (go
// build -overlay; the sources stay as they are) and must be found out. So we know
// that the explorer can see what each rule of the algorithm is there for.
//
// # How it works
//
// See package explore.
package main
