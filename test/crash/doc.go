// Package crash kills, stops and starves locksmith's processes, and everything around them, at
// every moment of a lock's life, and writes down what comes of it.
//
// # Running it
//
//	go test ./test/crash
//	go test -timeout 30m ./test/crash -long
//	go test -timeout 2h ./test/crash -update
//
// The last line makes the page CRASHES.md. The first one checks that the page says what is seen,
// and leaves out what takes long. It needs Linux on amd64. The last line also lets test/nfslab
// measure the cells over NFS. Where test/nfslab cannot do that, the run fails, and those cells
// stay as they are. With LOCKSMITH_CELLS=FILE they are taken from what "LOCKSMITH_CELLS=FILE go
// test ./test/nfslab -scenarios '^crashes$'" has written before. Without -update the page is
// compared with that file.
//
// # How it works
//
// A helper's parent is a tracer (ptrace(2)): this test, in a process of its own. It sees every
// system call of all threads of the helper. It can kill the helper before and after any call,
// make one fail, or let the helper pause at a moment: when it has just been refused, before it
// says OK, before a heartbeat, before a release. When the tracer has ended, both helper and
// parent are gone, as others see by their pids.
//
// This test counts who gets the lock afterwards (witness): there are never two.
//
// # What it cannot show
//
// All but the cells over NFS is on one machine, and on its own disk: test/nfslab and test/ftplab
// have more. A call of the kernel is one step: what a disk has of it after a power failure is not
// seen.
package crash
