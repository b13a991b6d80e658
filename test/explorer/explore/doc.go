// Package explore searches all that a few processes can do to each other through
// a directory or a bucket, with the code that is to be tested running for real.
//
// A process is its answers so far. The code under test is deterministic: ids,
// clocks, verdicts and the file system are all given to it (Env). So what a
// process will do next depends only on the answers that it got, and the code has
// to run just once for each new answer (graph, runner). After that a step of the
// search is a look-up. Between two calls a process is even less: the values that
// it holds (fingerprint). Where ways lead to equal values they join.
//
// A state (world) is the directory, what each host believes of it, the requests
// that may come again, the time, what the adversary may still do, and for each
// process where in its graph it stands. From it follow other states (step,
// adversary), which are searched breadth first (search) or walked through at
// random (walk). States are known by 128 bits of hash. The properties are checked
// as the states are made (property), and by letting everybody finish (settle).
//
// Two things keep the number of states down. A process that looks at its clock
// either does so at once or sleeps over the next jump of time, because no other
// process can tell the difference; likewise for a look at who lives, and crashes.
// A process that waits wakes only when something has changed.
//
// What is left out: clocks that run at unequal rates; names that come and go
// within one listing; caches of attributes (a look asks the server); errors of a
// full or read-only file system; stores that show what is old. Of lock files: times set
// ahead, pids that stand alone, what is no regular file, a file in use that the client
// renames, and a cache that still knows which file had a name.
package explore
