//go:build unix

// Command explorer is a model checker for the algorithms of nfs:, of mkdir:, ftp: and ftps:, of
// link:, of s3: and of local:. It runs the real code, not a model of it: packages
// backends/generation/symlinks, backends/mkdirlock, backends/link, backends/generation/objects and
// backends/local. They run against a simulated directory or bucket on a simulated server,
// simulated caches of several hosts, the simulated kernel of one machine, and a simulated clock.
// The explorer lets everything happen that can happen, in every order, and checks that the lock
// never does what it must not.
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
// A configuration (config.go) has two to four processes. It says what each does (acquire
// exclusively or shared, beat, sweep, release, again; or break somebody as the operator), on
// which host each is, and what the adversary may do, and how often. A small configuration is
// searched breadth first, to the end or to a number of states. A large one is walked through at
// random. A process whose attempt fails gives up; only those of deaf go on after an error that may
// pass, as the helper does. "complete" says that nothing was left to explore, "cut at depth n" that all ways of n
// steps were explored.
//
// One step is one call to the server, one look at a clock, or one wait. Between any two steps of
// a process the others may take any number of steps. So every process may be paused anywhere for
// as long as the adversary likes. Within its budget the adversary may:
//
//   - crash a process;
//   - let time pass, by a moment, half a lease or a lease, between any two steps;
//   - lose a request, or its reply after it was executed: the caller gets EIO;
//   - crash the server after a request was executed, so that the repeated
//     request says EEXIST or ENOENT;
//   - let the server execute a request a second time, or for the first time
//     after the caller got EIO, at any later moment;
//   - answer from an outdated cache of the caller's host: ENOENT for a name that
//     another host made after this host had missed it, or the content of a symbolic
//     link that is gone. A host refreshes the names of a directory by listing it,
//     looking at it, or changing something in it. A create always asks the server.
//     With tick, as on NFSv3 within one tick of the server's clock, only a change of
//     the name itself refreshes it, and a listing may be an old one unless this host has
//     changed the directory since;
//   - change a directory while it is listed: what came or went meanwhile is
//     shown or not;
//   - purge a name that has not changed for long and has nothing in it, as a cleaner by age does.
//
// It may not invent a success, let two win one create, or deny to a host what that
// host did itself.
//
// # What must hold
//
// Two holders that exclude each other are never both valid. A holder is valid from the moment Try
// returns, until one of these: it begins to release, its lease is over by its own clock, it has
// learned that the lock is gone, it crashes, or the operator breaks it. Tokens rise. A process
// that lost the lock to another learns so from its next call; no other process is told of a loss.
// A name is removed only by its maker; or after the maker crashed, or gave no sign of life for a
// whole lease, or the operator said so. No call fails unless a request was lost. And from every
// state that is sampled, if nothing else goes wrong, everybody ends, and after one more holder
// only a few generations are left.
//
// In the configurations called purge, what is purged has not changed for two leases. What a holder
// that sends heartbeats holds by (the generation, which it tends after its first heartbeat; the file;
// the sign in its directory) is never so old. In those called hasty half a lease is enough. Then
// somebody else may get the lock beside its holder, which no rule of ours prevents; but the holder
// learns so from its next call. After a purge of the newest generation, or of a directory that is a
// token, tokens begin anew. Object stores have no such cleaner: their rules count days.
//
// # Locks of directories
//
// Their configurations (config_directories.go) are called after the style and the server. plain,
// tree and bare (a tree without tokens) are on a file system, where the adversary may do
// everything to requests. ftp sends each request once; a request that was given up may be
// executed later. disk is a file system with a rename that replaces nothing, and with marks and
// pins (dirs.Disk). two-steps is a disk that turns out to have no such rename, unmarked one
// that has no marks. ftp-refuse does not rename onto a name that exists. ftp-empty lists a
// missing directory as an empty one. ftp-refuse-lists refuses to list an empty one. The processes
// may include scripts, which know only mkdir and rmdir of the lock; processes that take everybody
// else for dead; and operators who break those who wait.
//
// In plain style the lock is a directory that has an owner even if it is empty: whoever made it,
// or renamed a directory onto it, or removed the last entry in it. To the properties above come
// these. Nobody else removes or replaces an empty lock. A process that is given a hold had its
// entry when it began to try, and its lease is not over. While nothing goes wrong no waiting
// process is swept. Nothing is left but, in dir style, the empty lock and a few
// tokens.
//
// An orphan is allowed. That is an empty lock whose owner cannot know that it owns it, for one of
// these reasons. The owner crashed. The answer was lost to the request that made the lock its
// own, or to the one that should have removed it. The server executed that request late. Or an
// operator, or a process that took the owner for dead, removed its reservation in the Try in
// which it made the lock. If nobody can go on, and the lock is an orphan without a mark, a person
// removes it; and then everybody must end. So nothing else ever is in the way.
//
// Plain style has no defence against a network that repeats requests to make or remove the lock
// itself, because they contain no id. A repeated request to make the lock leaves an orphan. A
// repeated request to remove it removes what may be another owner's lock by then:
//
//	1  P2: mkdir L, works, rmdir L; the network keeps a copy of the rmdir
//	2  P1: mkdir L: it is P1's
//	3  the server executes the copy: rmdir L
//	4  P3, a script: mkdir L: P3 holds
//	5  P1: rename L.r.P1 -> L, which is empty: P1 holds, too
//
// So these two requests are repeated in no configuration but limit-dup and limit-dup-scripts,
// which are searched only if they are asked for. But they may be executed late, after an answer
// was lost: until then the lock belongs to its owner, which never asks again. If a person removes
// an orphan while such a request is still on its way, the same can happen.
//
// # Short tries
//
// In the configurations called short some processes never wait: each of their rounds is a program
// of its own, which remembers what it saw (watch.Memory). All of them share one remembered text,
// on whatever host, as in a home that hosts share. It may be read and written at any two moments.
// A process that breaks by what was remembered has watched as long as everybody else, with its
// respite: that is a property of all configurations.
//
// # Lock files
//
// Their configurations (config_files.go) are called link. The simulated file system has files
// with several names, numbers and times. Making a file is two requests. With link-reuse a new
// file gets the number of one that is gone. With link-local an open file exists until it is
// closed; otherwise the server says ESTALE. The processes may include tools, which link a file to
// the lock and remove the lock by its name. Nothing goes wrong with the tools' requests.
//
// To the properties above come these. A file is removed, by any of its names, only by its maker;
// or after the maker crashed, or gave no sign of life for a whole lease, or the operator said so.
// The lock is removed only if it is as it was at the last look: the same file, and not touched
// since. No id is used again. At the end nothing is left.
//
// If everybody is strict, all of that holds (dead, crash, lost, dup, late and the others). The
// rest are known limits, because the name of the lock contains no id. Their configurations must
// meet the known violations, by the processes that they name, and no others. What follows from
// such a violation is not explored.
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
// The name of a turn (L.brk.<id>.<n>) does not contain the id of the process that has it either.
// So a request to remove a turn that is executed late, or a second time, hits the next process
// that has the turn. Then two breakers by proof have the same turn. limit-link-turns, which is
// walked through only if it is asked for, finds that in some 25,000 walks:
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
// Their configurations (config_objects.go) are called s3. The simulated store creates an object
// if there is none, or writes one in any case; it looks at one, reads one, removes one, and lists
// them in pages. Nothing is cached and each request is sent once. So these are left that can go
// wrong with requests: a request or its answer is lost; a request is executed late, after its
// sender gave up or died; a request is executed twice; something on the way sends it again, and
// says of an object just created that it exists already; something before the store answers 404
// to any request, whether it passed the request on or not. A page of a listing may be read in two
// halves: what came or went meanwhile is in it or not. s3-pages has two objects on a page. With
// s3-still all times that the store tells are the same. In s3-forgets the store itself says once
// that a reservation does not exist although it does.
//
// To the properties above come these. A process that is given a hold had its reservation when it
// began to try, and its lease is not over. A heartbeat or a release does not succeed if the
// reservation was gone before it began. Nobody is told of a loss because of a 404 that is not the
// store's. The newest generation is never removed. If a reservation had no answer, its ticket is
// not used again. At the end only a few generations are left. A process that breaks only by proof
// (strict) goes on if all are on one host. Some processes remove the lock after they held it.
//
// Two requests of one acquisition, that of the reservation and that of the generation, may both
// be executed again after five others have had the lock. That is more than a heartbeat can see:
// it finds everything as it was, though an operator broke it. limit-s3-copies shows that, if it
// is asked for. Where a proxy repeats a request, it does so within the time of that request, and
// not after five acquisitions of others.
//
// A process that is refused asks whose the generation is. That is no rule of its own any more,
// because the next listing shows an own generation, too. Either alone is enough.
//
// # A file of one machine
//
// Their configurations (config_kernel.go) are called local. Their names end with how many may
// watch the lock; the others sleep in the kernel's queue. The simulated kernel has files with or
// without a name, what processes have open, kernel locks, and for each file a queue of threads.
// When a kernel lock is free, the kernel gives it to the first thread of its queue, at any later
// moment: until then others may take it. The process finds out when it next asks the kernel for
// something. A new file gets the number of one that is gone. The processes may include a hand,
// which removes the lock file once, whoever has made it.
//
// To the properties above come these. Holders have no lease: however much time passes, nobody
// else gets the lock, and a heartbeat succeeds. A process that has released the lock, gives up or
// ends keeps no kernel lock. When the lock is free and nothing goes wrong, no process that wants
// it sleeps until time wakes it. And each process may be stopped for good wherever it is: then
// all others end, unless it has the kernel lock of the file that is the lock.
//
// Two limits are known, and must be met. local-hand: a process that removes the lock by its path
// may be stopped after its look, while a hand removes the file and another process makes its own.
// local-stopped: a process that was given the kernel lock of a dead holder's file, and is stopped
// before it has removed the file, holds up the others.
//
// # The lock of flock(2)
//
// flock: is not explored, for there is little that an order of steps could make wrong. Its processes
// share no state of ours: who has the lock of a file is one decision of the kernel, and nobody breaks,
// removes or replaces anything. An attempt opens the file, locks it, and compares it with what the path
// leads to. Who else holds the path's lock at that moment has locked another file, which was replaced
// since. So two can hold it only when the file is replaced under a holder, before or after the comparison
// alike, and that is the documented loss. The record, the only thing that is written, goes into the
// file that was compared with the locked one, whatever the path leads to by then. Its code calls the
// system directly; a simulated kernel would need a seam there that serves nothing else. Instead real
// processes are killed at each of their system calls (test/crash) and at random (test/history), and the
// file is renamed, replaced, emptied and removed under them (TestFlockFile in test/interop).
//
// # How to read a counterexample
//
//	7  P1: list G: [lock.1]; P1 is stopped before it looks at its clock
//
// is step 7: process 1 lists G and the server answers lock.1; then the process is paused. P1#2 is
// the second ticket of P1. The counterexample of a search is one of the shortest there are. That
// of a walk was shortened; the seed and the number that are printed with it give it again. After
// "from here on nothing goes wrong" everybody takes turns, to show how it ends.
//
// # Mutations
//
// mutation.go lists ways to build the algorithm wrongly, and which property each breaks. All are
// compiled into one program (go build -overlay; the sources stay as they are). The program's
// environment says which one it plays (package overlay). Each must be found out by its own
// property, not by just any. So we know that the explorer can see what each rule of the algorithm
// is there for.
//
// # How it works
//
// See package explore.
package main
