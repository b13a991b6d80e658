// Package events is the history of locks as helpers record it: one line for
// each event, appended to a file (--events of locksmith hold, run and break) that any
// number of processes may share, and that locksmith timeline draws. It is enough to write or read such a file in any language.
//
// # Format
//
// A line is one JSON object (RFC 8259) in UTF-8 and a line feed, 64 KiB at most. It
// is written by one write(2) with O_APPEND, so that lines of several processes do not
// mix: in a file on a local disk, and in a pipe up to 4096 bytes. Over NFS they may.
// Lines of different processes come in no certain order.
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
//	more      for a set: how many locks more it has, for which the line has no room
//	host pid  the helper's
//	mode      exclusive or shared; mixed, if the locks of a set have different ones
//	modes     if they have: the mode of each
//	command   for run: the base name of the command; its arguments may be secret
//	meta      what the user said of the helper (--meta): an object of texts
//
// and with it
//
//	waiting   the lock is not free. holder: who holds it, as far as that is known: an
//	          object with id, user, host and pid. lock: which one of a set it is. why:
//	          the same in words, for people. It comes when the wait begins and when
//	          another holder is seen, or another lock of the set is not free.
//	broke     a holder that had died had the lock, and it was broken. holder, lock, why:
//	          as of waiting.
//	broken    an operator broke the lock with locksmith break, whose host and pid these are;
//	          mode is that of who had it. holder: who that was. user: the operator. forced:
//	          whether that one lived was not checked (--force). reason: in the operator's
//	          words (--reason). why: all of that in words.
//	acquired  the lock is held from now. id: names this acquisition. token: the
//	          fencing token, where there is one. waited_ms: since the helper's start.
//	          For a set, id is those of all locks with commas between them, and tokens
//	          has a number for each: 0 where there is none.
//	late      a heartbeat failed, or succeeded late. late_ms: after it was due.
//	          error: why it failed; it is tried again.
//	lost      the lock is not held any more, or soon will not be, though it was not
//	          released. code, text: as in the protocol's LOST line.
//	released  the lock was released. held_ms: since acquired. release_ms: the last part of
//	          that, from when nothing relied on the lock any more: in it another helper may
//	          have acquired it already.
//	gave-up   the lock was not acquired, or after acquired: what it was for could not be
//	          started. waited_ms: since the helper's start. code, text: as in the
//	          protocol's ERR line.
//
// A helper writes lost, released or gave-up last; one that is killed writes none of
// them. locksmith break writes nothing but broken. Numbers ending in _ms are milliseconds with up to three decimals.
//
// modes, tokens and the names in id are as many as locks, and in the same order. A
// lock that comes twice in a set, in whatever spelling, has the same name and token in
// each place; one that is wanted in both modes is exclusive. Where a set is too large
// for a line, id is left out; where that is not enough, the last locks are, with their
// modes and tokens.
//
// # Readers
//
// A reader ignores keys that it does not know and blank lines. It refuses a line in
// which a key is missing, comes twice, belongs to another event or has a value of
// another kind, and goes on with the next: a full disk or a crash may leave part of
// a line, to which the next one is glued. It does so with an event that it does not know.
package events
