// Command explorer is a model checker for the algorithms of the nfs: backend, of
// mkdir:, ftp: and ftps:, of link:, of s3:, and of local:. It runs the real code, packages
// backends/nfs/generation, backends/mkdirlock, backends/link, backends/s3/objects and
// backends/local, not a model of it: against a simulated directory or bucket on a simulated
// server, caches of several hosts, the kernel of one machine, and a simulated clock. It lets everything happen that can happen, in every order, and
// looks whether the lock ever does what it must not.
//
//	go run ./test/explorer                      all configurations
//	go run ./test/explorer -config half -limit 5000000
//	go run ./test/explorer -config large-tick -seed 7 -walk 3145
//	go run ./test/explorer -config 'plain-.*|tree-.*' -limit 1000000
//	go run ./test/explorer -config 'link-.*' -limit 1000000
//	go run ./test/explorer -config 's3-.*|large-s3-.*' -limit 1000000
//	go run ./test/explorer -config 'local-.*|large-local-.*'
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
// has learned that the lock is gone, it crashed, or the operator broke it). Tokens
// rise. Whoever lost the lock to another learns so from its next call; nobody
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
// that was given up may be executed later. disk is a file system with a rename that
// replaces nothing, and with marks and pins (mkdirlock.Disk); two-steps turns out to have
// no such rename, unmarked no marks. ftp-refuse does not rename onto what is there,
// ftp-empty lists a missing directory as an empty one, ftp-refuse-lists refuses to list
// an empty one. Among the processes there may be scripts, which know mkdir and rmdir of
// the lock only; processes that take everybody else for dead; and operators who break
// those who wait.
//
// In plain style the lock is a directory that has an owner even if it is empty:
// whoever made it, or renamed a directory onto it, or removed the last entry in it. To
// the properties above come these. Nobody else removes or replaces an empty lock.
// Whoever is given a hold had its entry when it began to try, and its lease is not
// over. While nothing goes wrong nobody who waits is swept. Nothing is left but,
// in the style of directories, the empty lock and a few tokens.
//
// What is allowed is an orphan, an empty lock that its owner cannot know to be
// its own. It crashed; or the answer was lost to the request that made it so, or to
// that which should have removed it; or the server executed that request late; or
// an operator, or somebody who took it for dead, removed its reservation in the
// Try in which it made the lock. Where nobody gets on and the lock is an orphan without
// a mark, a person removes it; and then everybody must end. So nothing else ever stands
// in the way.
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
// it never asks again. But a person who removes an orphan while such a request is
// still on its way can meet the same fate.
//
// # Short tries
//
// In the configurations called short there are processes that never wait: each of their
// rounds is a program of its own, which remembers what it saw (watch.Memory). What is
// remembered is one text for all of them, on whatever host, as in a home that hosts share;
// and it is read and written at any two moments. Whoever breaks by it has waited as long as
// everybody else, its respite included: that is a property of all configurations.
//
// # Lock files
//
// Their configurations (config_files.go) are called link. The simulated file system
// has files with several names, numbers and times; to make a file is two requests.
// With link-reuse the number of a file that is gone is that of the next one. With
// link-local a file that is open stays until it is closed; else the server says
// ESTALE. Among the processes there may be tools, which link a file to the lock and
// remove the lock by its name. Nothing goes wrong with their requests.
//
// To the properties above come these. A file is removed, by whatever name, by who
// made it, or when that one crashed, gave no sign of life for a whole lease, or the
// operator said so. The lock is removed only as it was when it was looked at: the same
// file, and not touched since. No id is used again. At the end nothing is left.
//
// Where everybody is strict, all of that holds (dead, crash, lost, dup, late and the
// others). The rest are known limits: there is no id in the name of the lock. In their
// configurations what is known must be met, from those who are named there, and
// nothing else; what follows from it is not explored.
//
//	link-age-holder    a holder stopped between look and removal in its release
//	                   (also age-beat, age-old, age-tend, age-lost, reuse, local)
//	link-age-breaker   one who breaks by age, stopped there, while the holder wakes
//	link-age-breakers  one who breaks by proof, but whom somebody else took for dead
//	                   by age
//	link-age-operator  an operator, or the holder that it breaks
//	link-age-tool      a tool that removes what is not its own any more
//	link-careless-dup  a request to remove the lock that the server executes late
//
// A turn (L.brk.<id>.<n>) has no id of who has it in its name either. So a request to
// remove one that is executed late, or again, hits who has it next, and then two
// breakers by proof have the same turn. limit-link-turns, which is only walked through
// if it is asked for, finds that in some 25,000 walks:
//
//	1  P2 has the turn, cannot look, and gives it up; the network keeps a copy
//	2  P2 has the turn again, looks at the lock of the dead one, and is stopped
//	3  the server executes the copy; P4 has the turn, looks, removes the lock, and
//	   links its own
//	4  P2: unlink L: it was P4's
//
// In no other configuration are requests to remove the lock or a turn repeated.
//
// The shortest of the first kind:
//
//	1  P1 holds, looks in its release at the lock, which is its own, and is stopped
//	2  a lease passes; P2 removes the lock of P1, links its own, and holds
//	3  P1: unlink L: it was P2's
//
// # Objects
//
// Their configurations (config_objects.go) are called s3. The simulated store creates an
// object if there is none, or writes one whatever is there, looks at one, reads one, removes
// one, and lists them in pages. Nothing is cached and each request is sent once, so of what
// can go wrong with requests these are left: one or its answer is lost; one is executed late,
// after whoever sent it gave up or died; one is executed twice; something on the way asks
// again, and says that there is one already of what was just created; something before the
// store answers 404, to any request, whether it passed it on or not. A page of a listing
// may be read in two halves: what came or went meanwhile is in it or not. s3-pages has two
// objects on a page, with s3-still all times that the store tells are the same. In s3-forgets
// the store itself says once that there is no reservation where there is one.
//
// To the properties above come these. Whoever is given a hold had its reservation when it
// began to try, and its lease is not over. A heartbeat or a release does not succeed if the
// reservation was gone before it began. Nobody is told of a loss because of a 404 that is not the
// store's. The newest generation is never removed, and no
// ticket is used again whose reservation had no answer. At the end nothing is left but a few
// generations. Who breaks by proof only (strict) gets on if all are on one host. Among the
// processes there are some that remove the lock after they held it.
//
// Two requests of one acquisition that are both executed again after five others have had
// the lock, that of the reservation and that of the generation, are more than a heartbeat
// can see: it finds all as it was, though an operator broke it. limit-s3-copies shows it, if
// it is asked for. A retry where a proxy makes one follows the request within its own time,
// and not after five acquisitions of others.
//
// That whoever is told of a refusal asks whose the generation is, is no rule of its own any
// more: the next listing shows an own generation, too. Either alone does.
//
// # A file of one machine
//
// Their configurations (config_kernel.go) are called local, and end with how many may watch the
// lock; the others sleep in the kernel's queue. The simulated kernel has files with a name or
// without, what processes have open, kernel locks, and for each file a queue of threads. When a
// kernel lock is free the kernel gives it to the first thread of its queue, at any later moment:
// until then others may take it. The process finds out when it next asks the kernel for something.
// The number of a file that is gone is that of the next one. Among the processes there may be a
// hand, which removes the lock file once, whosever it is.
//
// To the properties above come these. Holders have no lease: however much time passes, nobody
// else gets the lock, and a heartbeat succeeds. Who has released the lock, gives up or ends keeps
// no kernel lock. When the lock is free and nothing goes wrong, nobody who wants it sleeps until
// time wakes him. And each process may be stopped for good wherever it is: then all others end,
// unless it has the kernel lock of the file that is the lock.
//
// Two limits are known, and must be met. local-hand: who removes the lock by its path may be
// stopped after it looked, while a hand removes the file and another one makes its own.
// local-stopped: whoever was given the kernel lock of a dead one's file, and is stopped before
// it has removed that, holds up the others.
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
// mutation.go lists ways to build the algorithm wrongly, and which property each
// breaks. All are compiled into one program (go build -overlay; the sources stay as they
// are), whose environment says which one it plays: package overlay. Each must be found out
// by its property, not by just any. So we know that the explorer can see what each rule of
// the algorithm is there for.
//
// # How it works
//
// See package explore.
package main
