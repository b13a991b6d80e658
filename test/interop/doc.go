// Package interop tests which of our locks lives with which tool of other people,
// with the tools themselves.
//
// # Running it
//
//	go test -v ./test/interop
//	go test -v ./test/interop -run TestMatrix -table | grep '^|'
//
// Each pair of a kind of lock and a tool is a cell: lines that begin with "cell:" say
// what was seen there, and -table prints the table that README has, and must have. Where a
// tool is missing its cells skip, unless CI=true; test/run installs them all.
//
// # How it works
//
// The directory testdata holds a program for each tool that does the same three
// things, tells nothing of what is to come out, and goes by the tool's own rules:
//
//	TOOL try PATH                    takes the lock once and leaves it, or exits 75
//	TOOL hold PATH                   takes it, says "held", gives a sign of life and
//	                                 says "refreshed" for each line of its input, and
//	                                 leaves the lock when that ends
//	TOOL loop PATH ROUNDS COMMAND…   runs COMMAND under the lock so many times
//
// With STALE in its environment it breaks locks that are so many seconds old, if the
// tool has that option. Instead of waiting for the age at which a tool breaks a lock,
// the tests set the file's time back. They leave the time of its last reading as it
// is: dotlockfile believes that one, too.
//
// What runs under the lock is ftplab's witness, which writes down when.
//
// Two things are not as people have them: flufl.lock's pauses are shorter, and for tools
// that go by pids everybody stays for a while after its last release (look_test.go).
//
// # What it cannot show
//
// All is on one machine, so that a pid of another one is only played.
package interop
