//go:build unix

// Package explore searches all that a few processes can do to each other through a directory or a
// bucket, with the code under test running for real.
//
// Three packages beside it have its parts. steps has what processes ask of the world, one step at
// a time. actors has the processes, each as a graph of its steps. places has what locks are in.
//
// A state (world) is the places, the requests that may come again, the time, what the adversary may
// still do, and for each process where in its graph it is. From a state follow other states (step,
// adversary). They are searched breadth first (search) or walked through at random (walk). States
// are compared by 128 bits of hash. The properties are checked as the states are made (property),
// and by letting everybody finish (settle).
//
// Two things keep the number of states small. First, a process that looks at its clock either
// does so at once or sleeps over the next jump of time, because no other process can tell the
// difference. The same holds for looks at who lives, with crashes in place of jumps. Second, a
// process that waits wakes only when something has changed.
//
// These are left out: clocks that run at unequal rates; names that come and go within one
// listing; caches of attributes (a look asks the server); errors of a full or read-only file
// system; stores that show old states. Of lock files, these are left out: times set ahead, files
// with only a pid, files that are not regular, a file in use that the client renames, and a cache
// that still knows which file had a name.
package explore
