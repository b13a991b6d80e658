// Package backend is the contract between the helper and the kinds of locks.
//
// A Backend stands for one lock. To acquire the lock, the helper makes an Attempt, and calls Try
// and Wait in turn until Try returns a Hold. Then it calls Heartbeat every quarter of the lease,
// and Release at the end. Each call has one of three outcomes, which are never confused:
//
//   - It succeeded.
//   - It cannot succeed, because somebody else holds the lock (*HeldError), or because the lock is
//     gone (ErrGone).
//   - Nobody knows whether it succeeded (any other error).
//
// A backend knows nothing of pipes or exit statuses. Of processes it knows what a holder's record
// says (owner.Record): which helper holds the lock, and for which parent. The backend stores the
// record as it is given. Whether the holder is dead is decided by owner.Record.Verdict, and when
// it may be broken by package watch.
//
// backend.go has all that the author of a kind needs, with what it promises. The other files have
// what only the kinds in this module use, and how addresses are read.
//
// # What a backend must do
//
// The subtests of backendtest.Run judge it. Their names are quoted:
//
//   - Try takes a lock that is free. If the lock has tokens, its token is greater than the last
//     one. After Release nothing of the lock is left but what the kind keeps on purpose: "acquire
//     and release".
//   - Read shows the one holder, with its record, the verdict on it and its helper's pid. Before
//     and after that it shows nobody: "inspect". So it does whatever others do meanwhile, though it takes
//     several steps: "inspect beside others that come and go".
//   - The *HeldError of Try has the record of the holder: "held tells who".
//   - Wait returns soon after the release, after the end of its context, or after the death of the
//     last process that the verdict waited for: "wait ends with release", "wait ends with context",
//     "wait ends with death". Withdraw leaves no trace.
//   - Each Try has a fresh id, even within one attempt: "ids are never used twice".
//   - However many try at the same time, one has the lock: "never two holders".
//   - If all processes of a holder are gone, it is broken at once, and Request.Broke is told: "dead
//     holder is broken".
//   - If a holder's helper is gone and its parent lives, the holder is broken when its sign of life
//     has not changed for its lease, by the waiter's clock, and not before: "parent alive keeps the
//     lock until the lease is over". With Request.Strict it is never broken: "strict never breaks by
//     lease". With Request.Grace both kinds of break come later by that: "grace".
//   - A holder of whom nothing here can tell whether it lives is kept for as long as its sign of life
//     changes: "a holder that beats is kept although its host cannot be seen". The silence of one is not
//     held against the next: "a new holder is watched anew". A holder has the lock, too, if nobody
//     can read its record, and Read shows somebody: "a record that nobody can read is held".
//   - Heartbeat and Release return ErrGone if the lock was removed: "lost lock is noticed". They
//     compare the id, and never touch a successor: "late release of a broken holder hits nothing".
//   - Where a server ends leases by its own clock, whatever waiters ask (Subject.Expires), it does: "a
//     server ends the lease of a silent holder". Its queue has a strict order: "who would share never
//     passes who waits alone".
//   - Tend may be called while another method runs: "housekeeping beside all else".
//   - Strike removes the one acquisition that Read showed, or returns ErrGone; Break, which finds it by
//     its id, is written once over both: "break by id".
//   - A shelf.Keeper keeps the last success of whoever held the lock to the end, and, unless it
//     refuses notes, those of breaks by hand: "successes", "notes of breaks".
//
// If a lock can be shared (Subject.Shared):
//
//   - Those who share it hold it together, and meanwhile nobody holds it alone: "several share",
//     "shared excludes exclusive", "exclusive excludes shared", "never an exclusive holder with
//     others". A lock that somebody always shares never looks free: "inspect beside a lock that is
//     shared in turn".
//   - Each of them is broken by itself: "a dead one of several is broken", "break one of several by
//     id".
//   - Tokens rise with each holder that has the lock alone, and never fall: "tokens".
//   - Who comes later to share the lock lets pass who waits for it alone: "newcomers that share
//     leave it to who waits".
//
// If waiters stand in a queue that others see (Subject.Queue): "the queue is seen in order",
// "waiters take their turns".
//
// Some locks are kept by the kernel until no process has their descriptor (Holder.OfKernel). Nobody
// breaks these, and neither a lease nor a record counts: if the helper is killed, the lock is free
// at once, even while its parent lives. The suite must be told so (backendtest.Subject.KernelDrops).
package backend
