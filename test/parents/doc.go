// Package parents tests the helper under parents in other languages: sh, Perl, Python, Tcl, Node
// and C.
//
// Purpose: a pair holds a lock, and half of it is not ours. Shells, interpreters and libraries
// differ in how they start a child: some leave descriptors open, some put a shell or a socket in
// between, some fork from a thread. Each must release the lock when, and only when, its parent
// lets go.
//
// The directory testdata/LANGUAGE holds two programs. "example" is the shortest right way to
// take a lock in that language, as people copy it from the README, and takes the lock's address.
// "parent" does the same step by step under the test's control:
//
//	parent SCENARIO LOCK GO
//
// It takes LOCK and says "working", waits until the file GO exists (at most two minutes, so that
// none outlives a test that crashed), lets go of the lock, waits for the helper and says
// "released". Without a lock it dies with the helper's line. The scenarios differ in this:
//
//	hold    nothing
//	try     it does not wait for the lock
//	fork    before "working" it leaves a child running that has our ends of the
//	        helper's pipes, and says "child PID"
//	data    the helper inherits our standard input; after "working" it says each
//	        line from there again after the word "data", then "eof"
//	thread  a thread starts the helper, and ends before "working"
//
// clients/LANGUAGE does the same by way of the client for the language in the directory client,
// and more:
//
//	lost         after "working" the lock is lost: it says "lost CODE", and after an attempt
//	             to release it "released CODE"
//	stopped      the same with a lease of three seconds
//	max_hold     the same with a second for which the lock may be held
//	forked       a child by fork(2) lives on while the lock is released, and cannot release it
//	give_up      it waits for the lock and soon gives up, and says so
//	deaf         the same, with a helper that hears nothing
//	handle       (Perl, Tcl) what a program can do with a lock, and is refused; it judges for itself.
//	             The others have tests of their own, which TestSuites runs
//	thread_ends  (Perl) another thread ends before the work
//	unread       (Perl) the helper's output is full of heartbeats before the work
//	task         (Python) what works is a task of asyncio
//
// The program "asked" there is one of test/helpers, which asks all clients the same questions.
//
// The program python/flood.py writes to the helper's standard input for as long as the pipe
// takes it, says "full" and how many bytes that were, and once GO exists how many of them are
// still unread.
//
// Caveats. These are tests for Linux: they look into /proc. A language whose interpreter is
// missing is skipped, but not where CI=true.
package parents
