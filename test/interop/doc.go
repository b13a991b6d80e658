// Package interop tests which of our locks live with which tools of other people, with the tools
// themselves.
//
// # Running it
//
//	go test -v ./test/interop
//	go test -v ./test/interop -run TestMatrix -table | grep '^|'
//
// Each pair of a kind of lock and a tool is a cell. Lines that begin with "cell:" say what was
// seen there. -table prints the table, which README must have. If a tool is missing its cells
// skip, unless CI=true; test/run installs all tools.
//
// # How it works
//
// For each tool the directory testdata has a program that does the same three things by the
// tool's own rules, and does not know what is to come out:
//
//	TOOL try PATH                    takes the lock once and leaves it, or exits 75
//	TOOL hold PATH                   takes it, says "held", gives a sign of life and
//	                                 says "refreshed" for each line of its input, and
//	                                 leaves the lock when that ends
//	TOOL loop PATH ROUNDS COMMAND…   runs COMMAND under the lock so many times
//
// With STALE in its environment it breaks locks that are so many seconds old, if the tool has
// that option. The tests do not wait for the age at which a tool breaks a lock, but set the
// file's time back. They leave the time of its last reading as it is: dotlockfile believes that
// one, too.
//
// Under the lock runs ftplab's witness, which writes down when.
//
// Two things are not as people have them: flufl.lock's pauses are shorter, and for tools that go
// by pids everybody stays for a while after the last release (look_test.go).
//
// # What it cannot show
//
// All is on one machine, so another machine's pid is only played.
package interop
