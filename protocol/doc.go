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
//	locksmith hold local:/var/lock/billing
//
// It reads one line. A line that begins with "OK" means the lock is held. Any
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
// # Grammar
//
// A line is at most 4096 bytes long, its final line feed included, and holds
// no byte below 0x20, no 0x7F, and only valid UTF-8:
//
//	line  = word *( SP key "=" value ) [ SP "text=" text ] LF
//	word  = 1*16( "A".."Z" )
//	key   = ( "a".."z" ) *31( "a".."z" / "0".."9" / "_" / "." / "-" )   ; not "text"
//	value = *( plain / "%" HEX HEX )
//	plain = any byte 0x21..0x7E but "%"
//	HEX   = "0".."9" / "A".."F"
//	text  = 1*( any character but controls )     ; for people, never to be parsed; controls
//	                                             ; are also U+007F..U+009F, U+2028..U+202E
//	                                             ; and U+2066..U+2069
//
// A value escapes exactly the bytes that are not plain, so that it has one
// spelling. No key comes twice. The fields come in any order; text is last. A
// reader ignores words and keys it does not know, after the first line.
//
// # Lines
//
//	OK        the lock is held. proto: 1. mode: exclusive or shared. waited_ms:
//	          milliseconds from start to OK. lease_ms: how long a silent holder
//	          is believed. lock: the address. id: names this acquisition.
//	          token: the fencing token, where the backend has one; it rises with
//	          each holder. locks: the helper holds a set of so many locks. Then token
//	          and id are lists with one value for each lock in the order given,
//	          separated by commas (token 0: none; no token: all none), lock has one
//	          address a line, and mode may also be mixed. Where the line would be too
//	          long, lock is left out, and then id. index: which of the locks given
//	          it is, counted from 1, where any of them would do.
//	ERR       the lock is not held, and nothing is left behind. code: one of the
//	          names below. text: why, and what to do. With code=held and
//	          code=timeout also waited_ms, and what is known of the holder: host, pid,
//	          program (the name of what it holds for), user, age_ms, heartbeat_ms,
//	          holder (the holder's id). After waiting for a --timeout there is no
//	          heartbeat_ms: what was seen is old then. code=cancelled has the same,
//	          and held=1, if a holder was seen before the parent gave up.
//	BEAT      only when the parent asked for it: the lease now runs from sent_ms
//	          milliseconds before this line.
//	LOST      the lock is no longer held, or soon will not be: stop working on
//	          what it guards. code: gone (others removed it), expired (the
//	          lease ran out unconfirmed), unreleased (it could not be removed;
//	          it frees itself when the lease is over, unless text says that
//	          it must be removed by hand), max_hold (the time that the helper was
//	          told to hold it for is over: it is removed when the parent lets go,
//	          and without that 10 seconds later, or sooner). text: details.
//	RELEASED  the lock was removed: because the parent let go, or because of a
//	          signal. held_ms: milliseconds from OK to here.
//
// The helper exits after ERR, RELEASED and (once the parent has let go, or the
// lease or those seconds are over) LOST. An exit after OK without RELEASED is a loss too,
// and so is RELEASED to a parent that has not let go.
//
// # Codes
//
// The exit status is 0 after RELEASED; but if a parent that had not let go is at a
// pipe, 128+n if signal n was the reason, and 79 if nobody reads while standard input
// is open, or the parent died and another process keeps its pipe. Else it is that of the code,
// in the manner of sysexits(3):
//
//	usage 64 · unreachable 69 · internal 70 · cannot_create 73 · held 75 ·
//	timeout 75 · cancelled 75 · permission 77 · config 78 ·
//	gone, expired, unreleased 79 · max_hold 124
package protocol
