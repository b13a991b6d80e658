// Command explorer is a model checker for the algorithm of the nfs: backend. It
// runs the real code, package backends/nfs/generation, not a model of it: against
// a simulated directory on a simulated server, caches of several hosts, and a
// simulated clock. It lets everything happen that can happen, in every order, and
// looks whether the lock ever does what it must not.
//
//	go run ./test/explorer                      all configurations
//	go run ./test/explorer -config half -limit 5000000
//	go run ./test/explorer -config large-tick -seed 7 -walk 3145
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
