// Package backend is the contract between the helper and the ways of locking.
//
// A Backend stands for one lock. To acquire it the helper makes an Attempt and
// alternates Try and Wait until Try returns a Hold; it then calls Heartbeat
// every quarter of the lease and Release once. Each step has three outcomes
// that are never confused: it succeeded; it cannot succeed, because somebody else
// holds the lock (*HeldError) or the lock is gone (ErrGone); or the outcome is not
// known (any other error). A backend knows nothing of pipes or exit codes. Of processes it
// knows what a holder's record says (owner.Record): its helper, and the parent that the helper
// holds the lock for. It stores the record as it is given, and leaves the verdict on it to
// owner.Record.Verdict, and when a holder may be broken to package watch.
//
// What a backend must do is judged by the subtests of backendtest.Run, whose names are quoted:
//
//   - Try takes a lock that is free, whose token, if it has any, is greater than the last one;
//     after Release nothing of it is left but what the kind keeps on purpose: "acquire and release".
//   - Inspect shows the one holder, with record, verdict and the helper's pid, and nobody
//     before and after: "inspect".
//   - The *HeldError of Try names the holder by its record: "held tells who".
//   - Wait returns soon after the release, the end of its context, or the death of the last
//     process that the verdict still waited for: "wait ends with release", "wait ends with
//     context", "wait ends with death". Withdraw leaves no trace.
//   - Each Try has a fresh id, also those of one attempt: "ids are never used twice".
//   - However many try at the same time, one has the lock: "never two holders".
//   - A holder whose processes are all gone is broken at once, and Request.Broke told:
//     "dead holder is broken".
//   - A holder whose helper is gone while its parent lives is broken when its sign of life has
//     not changed for its lease, by the waiter's clock, and not before: "parent alive keeps
//     the lock until the lease is over". With Request.Strict never: "strict never breaks by
//     lease". In each case Request.Grace later: "grace".
//   - Heartbeat and Release say ErrGone of a lock that was removed: "lost lock is noticed". They
//     compare the id, and never touch a successor: "late release of a broken holder hits nothing".
//   - Tend may be called beside the other methods: "housekeeping beside all else".
//   - Break ends the acquisition of exactly this id, or says ErrGone: "break by id".
//   - A SuccessKeeper keeps the last success of who held the lock to the end, and a NoteKeeper
//     what was said of a break by hand: "successes", "notes of breaks".
//
// Where a lock can be shared (Subject.Shared):
//
//   - Those who share have it together, and nobody has it alone meanwhile: "several share",
//     "shared excludes exclusive", "exclusive excludes shared", "never an exclusive holder with others".
//   - Each of them is broken by itself: "a dead one of several is broken", "break one of several by id".
//   - Tokens rise with each holder alone, and never fall: "tokens".
//   - Who comes later to share lets pass who waits alone: "newcomers that share leave it to who waits".
//
// Where waiters stand in a queue that others see (Subject.Queue): "the queue is seen in order",
// "waiters take their turns".
//
// Where the kernel keeps a lock until no process has its descriptor (Holder.OfKernel), nobody breaks
// it, and neither a lease nor a record counts: that of a helper that is killed is free at once, even
// while its parent lives. The conformance suite is told so (backendtest.Subject.KernelDrops).
//
// The package also holds the grammar of addresses and the form of errors.
package backend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// A Locker is what can be acquired: a lock, or a set of locks.
type Locker interface {
	// Attempt prepares to acquire the lock; it changes nothing yet.
	Attempt(Request) (Attempt, error)
}

// A Backend is one lock at one address. Its methods may be called at the same
// time from several goroutines.
type Backend interface {
	Locker
	// Inspect looks at the lock without disturbing anybody.
	Inspect(ctx context.Context) (Report, error)
	// NewestToken returns the newest fencing token, 0 if there was none yet; ErrNoTokens
	// when holders of this lock get none. Unlike Inspect it must see what others did
	// before it was called, and may change something in the lock's place for that.
	NewestToken(ctx context.Context) (uint64, error)
	// Break ends somebody else's acquisition on the word of an operator. who is its id;
	// or, for the lock of another tool, which has none, its Sign (see Holder). The error is
	// ErrGone when there is no such acquisition (any more), and ErrLives when the operating
	// system keeps the lock for a helper that lives. Apart from that, Break does not ask
	// whether the holder is dead.
	Break(ctx context.Context, who string) error
	// List takes the address as that of a directory, or else of one lock. It tells of every
	// lock in the directory and below it, and of every directory that it could not look
	// into: in order, one after the other, in this goroutine. It follows no symbolic link
	// but the directory's own. Its error says why it could not go on.
	List(ctx context.Context, l Listing) error
	// Examine finds out whether the place is fit for locks, and tells of one check after
	// the other. It works beside the lock, with names of its own that it removes again,
	// also when ctx ends, and disturbs nobody. Its error says why it could not go on; by
	// then it has told what it found. That something is not allowed is a finding, not an
	// error.
	Examine(ctx context.Context, e Examination, tell Tell) error
}

// NoLimit is a limit that is never reached.
const NoLimit = time.Duration(math.MaxInt64)

// A Request says who wants the lock and how.
type Request struct {
	// Owner describes who wants the lock. The backend fills in Acquired, and ID,
	// a fresh one for every try.
	Owner   owner.Record
	Strict  bool          // break the dead by proof only, never by lease
	Grace   time.Duration // wait this much more before breaking, and look again
	Timeout time.Duration // how long we are going to wait at most; 0: one try; NoLimit
	// Several says that this is one of several locks that one process waits for, at the same time or
	// one after the other: Wait may not keep a thread of its own that the end of its context does not free.
	Several bool
	// Polls is how often to ask while waiting, where nothing wakes us; nil: the usual
	// pauses of this kind of lock.
	Polls *backoff.Config
	Clock clock.Clock
	// Memory, if not nil, knows what earlier tries have seen of others.
	Memory Memory
	// Moved, if not nil, says that what the lock guards goes on when the path of the lock leads to
	// another file: it has the lock of the old one still. It is told of that once, at a heartbeat.
	// Nil: that is a loss.
	Moved func(error)
	// Broke, if not nil, is told in Try of each dead holder whose lock was broken for us.
	Broke func(lock string, dead Holder)
}

// A Memory outlives a try: others come for less than a lease each time, and together still
// watch a silent holder for a whole one. Package watch has the rules.
type Memory interface {
	// Since takes note that the sign of life of the acquisition with this id was seen, at
	// now, which is a reading of the request's clock from after the look. It returns
	// when that sign was first seen: not after now.
	Since(id, sign string, now time.Duration) time.Duration
	// Known returns the ids of those of which this sign was seen last.
	Known(sign string) []string
}

// TellBroken tells whoever made the request of a dead holder whose lock was broken.
func (r Request) TellBroken(lock string, dead Holder) {
	if r.Broke != nil {
		r.Broke(lock, dead)
	}
}

// Checked returns the request with its lease in whole milliseconds, as locks keep it, or
// an error that says why such a lock cannot be asked for in this way. what names the kind
// of lock, as in "a lock file"; modes are those that the kind has: "exclusive" and perhaps
// "shared".
func (r Request) Checked(lock Name, what string, modes ...string) (Request, error) {
	const op = "acquire"
	r.Owner.Lease = r.Owner.Lease.Truncate(time.Millisecond)
	mode, lease := r.Owner.Mode, r.Owner.Lease
	switch {
	case mode == "shared" && !slices.Contains(modes, mode):
		return r, lock.Usage(op, what+" cannot be shared", "leave out --shared, or use nfs:, which can be shared, on this disk, too")
	case !slices.Contains(modes, mode):
		return r, lock.Usage(op, what+" cannot be "+Quoted(mode), "use "+strings.Join(modes, " or "))
	case lease < owner.MinLease || lease > owner.MaxLease:
		return r, lock.Usage(op, fmt.Sprintf("a lease of %v is not between %v and %v", lease, owner.MinLease, owner.MaxLease), "choose another")
	}
	return r, nil
}

// An Attempt is one wish for the lock. Its methods are called one at a time: one that hangs
// must come back before the next.
type Attempt interface {
	// Try tries once, breaking a holder that is dead. Its error is *HeldError
	// when somebody else holds the lock. After that, and after an error that passes (Passes),
	// Wait is called, and Try again: how long what passes is borne is not the attempt's to
	// decide. After any other error the attempt is withdrawn.
	Try(ctx context.Context) (Hold, error)
	// Wait returns nil when another Try is worth its cost, or ctx's error; an error that
	// passes is as good as nil. It keeps the place in a queue, if there is one, also while
	// nothing is known about the lock.
	Wait(ctx context.Context) error
	// Withdraw removes every trace of an attempt that is given up. It is not
	// called after a Try that returned a Hold.
	Withdraw(ctx context.Context) error
}

// Acquire alternates Try and Wait until the lock is held, through whatever may pass. After an
// error the attempt is to be withdrawn.
func Acquire(ctx context.Context, a Attempt) (Hold, error) {
	for {
		h, err := a.Try(ctx)
		var held *HeldError
		if err == nil || !errors.As(err, &held) && !Passes(err) {
			return h, err
		}
		if err := a.Wait(ctx); err != nil && !Passes(err) {
			return nil, err
		}
	}
}

// A Hold is a lock that is held. Its methods, but for Tend, are called one at a time: a call
// that was left behind because it hangs must come back before the next is made, a release
// too. So only what Tend shares with them needs a lock.
type Hold interface {
	// ID names this acquisition.
	ID() string
	// Token is the fencing token, which rises with every holder; 0 means none.
	Token() uint64
	// Heartbeat tells the others that the holder lives, and makes sure it still
	// holds: ErrGone when it does not.
	Heartbeat(ctx context.Context) error
	// Release removes the lock: ErrGone when it was no longer there, ErrStays when
	// it can do no more. After any other error it may be called again.
	Release(ctx context.Context) error
	// Tend does some housekeeping in the lock's place, such as removing what crashed
	// waiters left. The helper calls it now and then between heartbeats. While it hangs, the
	// helper calls the other methods beside it. Its errors mean nothing for the hold.
	Tend(ctx context.Context) error
}

// A KeptHold is a Hold that the system may keep for its process, however long that process is
// stopped.
type KeptHold interface {
	Hold
	// Kept reports that nobody takes the lock by its lease while this process lives. Who
	// removes or replaces it nevertheless does so by hand or with another tool, and unless it
	// is put back no heartbeat succeeds after that. So a heartbeat that succeeds proves the lock ours all along,
	// also after the lease.
	Kept() bool
}

// A LentHold is a Hold that a command may have in common with its holder, by a descriptor.
type LentHold interface {
	Hold
	// Lend returns descriptors for what is started now, or what this process becomes, to
	// inherit: the kernel keeps the lock while any process has them. Otherwise the caller
	// closes them.
	Lend() ([]int, error)
}

// A MultiHold is the Hold of a set of locks.
type MultiHold interface {
	Hold
	// Tokens are their fencing tokens, in the order in which the locks were given.
	Tokens() []uint64
	// Confirmed is a time, by the helper's clock, at which all the locks were proven
	// ours. The lease counts from there: some may have been taken long before others.
	Confirmed() time.Duration
}

// A ChosenHold is the Hold of one lock out of several of which any would do.
type ChosenHold interface {
	Hold
	// Chosen is which, counted from 0 in the order in which they were given.
	Chosen() int
	// Confirmed is a time, by the helper's clock, at which the lock was proven ours.
	Confirmed() time.Duration
}

// A Remover is a Backend that leaves something in place, such as a directory, while the
// lock is free.
type Remover interface {
	// Exists reports whether anything of the lock is there now.
	Exists(ctx context.Context) (bool, error)
	// Remove releases an exclusive hold and removes what stays, unless somebody else
	// comes for the lock meanwhile: then its error has the code held. Afterwards fencing
	// tokens start again.
	Remove(ctx context.Context, h Hold) error
}

// A Report is what Inspect saw.
type Report struct {
	Token   uint64   // the fencing token of the holders, or of the last one; 0 means none
	Holders []Holder // none: the lock is free
	Waiters []Holder
	Queued  bool // the waiters are in the order in which they will be served
	// Crowd says that waiters leave no trace in the lock's place, so that Waiters tells nothing:
	// as far as the system shows, there are AtLeast so many.
	Crowd   bool
	AtLeast int
	Success *Success // the last one on record; nil: none is known. Its age is for people
	// Broken is the note of the last break by hand, as far as there is one; else nil.
	Broken *owner.Note
}

// StickyNote is the Note on a dead holder whose lock file only its owner may remove.
const StickyNote = "it is dead, but in this directory only its owner may remove it"

// A Holder is one holder of a lock, as seen by somebody else.
type Holder struct {
	ID        string        // what Break takes; empty if it has none, and then Break takes its Sign
	Record    *owner.Record // nil when what the lock holds is not a record
	Who       string        // without a record: what is known of it, as in "pid 4242 (rsync)"; else empty
	OfKernel  bool          // the kernel keeps the lock until no process has its descriptor: nobody breaks it
	Kept      []int         // those processes, as far as they are known
	Note      string        // what the lock holds instead, or what is odd about it
	Advice    string        // how to go on, if waiting is hardly of use; else empty
	Blocked   bool          // nothing frees the lock until a person does: no process is known to hold it
	Verdict   owner.Verdict
	PID       int           // the helper's, or what another tool wrote; 0 if unknown
	Age       time.Duration // since it acquired the lock, or began to wait; for people
	Heartbeat time.Duration // since its last heartbeat; for people
	Lease     time.Duration // how long without a heartbeat until others may break it; 0 if unknown
	Silence   time.Duration // how long it may be silent while it lives; 0: a quarter of its lease
	// Sign changes with each of its heartbeats and has no other meaning; empty if no
	// heartbeat can be seen.
	Sign string
	// Lasting says that a Sign that is gone never comes back, so that the same at two looks
	// means that there was no heartbeat between them, whoever looked.
	Lasting bool
	// Silent is for how long, by our own clock, it gave no sign of life at least; 0: nothing
	// is known.
	Silent time.Duration
	// Overdue says that it was silent for longer than its lease and stays all the same, as the
	// one who asks breaks by proof alone.
	Overdue bool
}
