// Package events is the history of locks as helpers record it: one line for each event, appended
// to a file (--events of locksmith hold, run and break). Any number of processes may share such a
// file, and locksmith timeline draws it. This page is enough to write or read one in any language.
//
// # Format
//
// A line is one JSON object (RFC 8259) in UTF-8 and a line feed, 64 KiB at most. It is written by
// one write(2) with O_APPEND. So lines of several processes do not mix in a file on a local disk,
// nor in a pipe if they have up to 4096 bytes. Over NFS they may mix. Lines of different processes
// come in no certain order.
//
//	{"time":"2026-01-02T03:04:05.000006Z","boot_ms":81234.567,"clock":"…","event":"acquired",
//	 "locks":["nfs:/srv/locks/db"],"host":"web3","pid":4242,"mode":"exclusive","command":"sh",
//	 "id":"52b5…","token":17,"waited_ms":12.042}
//
// Every event has
//
//	time      when, by the host's calendar: RFC 3339, UTC, six digits of a second
//	boot_ms   when, by a clock that is never set: CLOCK_BOOTTIME
//	clock     which clock boot_ms is a reading of: readings may be compared where
//	          it is the same; left out where that is not known
//	event     one of those below
//	locks     the canonical addresses of the locks, one at least: several are a set,
//	          in the order given
//	more      for a set: how many more locks it has, for which the line has no room
//	host pid  those of the helper
//	mode      exclusive or shared; mixed, if the locks of a set have different ones
//	modes     if mode is mixed: the mode of each lock
//	command   for run: the base name of the command; its arguments may be secret
//	meta      what the user said about the helper (--meta): an object of texts
//
// and, depending on its kind,
//
//	waiting   the lock is not free. holder: who holds it, as far as that is known: an
//	          object with id, user, host and pid. lock: of a set, the lock that is not free.
//	          why: the same in words, for people. The event comes when the wait begins, and
//	          when another holder is seen or another lock of the set is not free.
//	broke     the holder had died, and its lock was broken. holder, lock, why: as for waiting.
//	broken    an operator broke the lock with locksmith break. host and pid are those of that
//	          command. mode is that of the holder. holder: the broken holder. user: the
//	          operator. forced: nobody checked whether the holder lived (--force). reason: in
//	          the operator's words (--reason). why: all of that in words.
//	acquired  the lock is held from now. id: names this acquisition. token: the
//	          fencing token, where there is one. waited_ms: since the helper's start.
//	          lease_ms: for how long after a heartbeat nobody else may take the lock.
//	          For a set, id has the ids of all locks with commas between them, and tokens
//	          has a number for each lock: 0 where there is no token.
//	late      a heartbeat failed, or succeeded late. late_ms: after it was due.
//	          error: why it failed; it is tried again.
//	lost      the lock is not held any more, or soon will not be, though it was not
//	          released. code, text: as in the protocol's LOST line. silent_ms: since the last
//	          heartbeat that succeeded. Once that was longer than lease_ms, somebody else may
//	          have held the lock.
//	released  the lock was released. held_ms: since acquired. release_ms: the last part of
//	          that, in which nothing relied on the lock any more. Another helper may have
//	          acquired it in that part already.
//	gave-up   the lock was not acquired; or it was, but its command could not be started.
//	          waited_ms: since the helper's start. code, text: as in the protocol's ERR
//	          line.
//
// A helper writes lost, released or gave-up last. A helper that is killed writes none of them.
// locksmith break writes only broken. Numbers whose names end in _ms are milliseconds with up to
// three decimals.
//
// modes, tokens and the names in id are as many as locks, and in the same order. A lock that
// comes twice in a set, in whatever spelling, has the same name and token in each place. If it is
// wanted in both modes, it is exclusive. If a set is too large for a line, id is left out. If that
// is not enough, the last locks are left out, with their modes and tokens.
//
// # Readers
//
// A reader ignores blank lines, and keys that it does not know. It refuses a line without time, boot_ms, event, locks, pid or mode; without waited_ms, late_ms,
// held_ms, release_ms, forced, code or the id of a single lock, if its event has that; with a value of
// another kind; or whose event it does not know. Then it goes on with the next line: a full disk or a
// crash may leave part of a line, to which the next one is glued.
package events
