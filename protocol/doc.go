// Package protocol is the conversation between a locksmith (the helper that
// tends one lock) and its parent (the program that needs the lock): the lines,
// their grammar, and the exit codes. It is enough to write either side in any
// language.
//
// # Calling sequence
//
// The parent starts the helper with a pipe on its standard output and, where
// the language makes it easy, a pipe on its standard input:
//
//	locksmith hold --stdin watch local:/var/lock/billing
//
// Without the pipe on standard input it leaves --stdin watch out. It reads one line. A line that begins with "OK" means the lock is held. Any
// other line, or the end of the output without one, means it is not. Nothing
// precedes that line; log messages go to standard error.
//
// To release the lock the parent closes the helper's standard input (or, with
// a one-way pipe, the helper's standard output) or simply exits or dies. With two
// pipes it keeps its reading end open until then: the helper releases the lock when
// nobody reads, too. A program that becomes a daemon does so first. The
// parent never writes anything. It may then wait for the helper's exit, before
// which the lock has been removed.
//
// After OK the helper says at most a few lines more, which a parent may ignore
// unless it cares to know that it lost the lock:
//
//	OK proto=1 id=3f… mode=exclusive waited_ms=12 lease_ms=60000 lock=local:/var/lock/billing
//	RELEASED held_ms=48211
//
// # Lines, grammar and codes
//
// They are on the page README.md beside this file, with what a parent does and what may be
// added to the protocol without a new version. HELPERS.md says what a helper does. A line is a word in capital letters, then fields
// key=value, then perhaps text=…, for people. OK or ERR is the first; BEAT, LOST and RELEASED
// may come after OK.
package protocol
