// This file has the names that the author of a kind of locks needs, in this module or outside of
// it. What they promise to authors outside:
//
//   - Backend, Attempt and Hold get no further methods. What a kind may do beside them is an
//     interface of its own, such as Remover: a kind that lacks it is a whole kind all the same.
//     Those interfaces get no further methods either.
//   - The structs keep their fields. They may get further ones, which a kind may leave out, or pass
//     over, and then all is as before. So name the fields where you write such a struct.
//   - The errors keep their meaning, and so do the methods of all these types, whichever file they
//     are in.
//
// All other exported names of this package are for the kinds in this module, and for the programs
// that use them. They may change with any commit.

package backend

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A Locker is what can be acquired: a lock, several locks together, or any of several.
type Locker interface {
	// Attempt prepares to acquire the lock. It changes nothing yet.
	Attempt(Request) (Attempt, error)
}

// A Backend is one lock at one address. Several goroutines may call its methods at the same time.
type Backend interface {
	Locker
	// Read looks at the lock and disturbs nobody. What lies on its shelf is told by who lists that
	// anyway (Report.Shelved), and else by shelf.Inspect.
	Read(ctx context.Context) (Report, error)
	// NewestToken returns the newest fencing token, or 0 if there was none yet. If the holders of
	// this lock get none, its error is ErrNoTokens. Unlike Read, it must see whatever others did
	// before it was called. For that it may change something in the lock's place.
	NewestToken(ctx context.Context) (uint64, error)
	// Strike removes somebody whom Read showed, because an operator says so (Break), and does not ask
	// whether that one is dead. It removes what has the ID, or if there is none, the Sign, and
	// nothing else. The error is ErrGone if that is not there any more, or not where it was. It is
	// ErrLives if the operating system keeps the lock for a helper that lives.
	Strike(ctx context.Context, h Holder) error
	// Examine finds out whether the place is fit for locks, and tells of one check after the other.
	// It leaves the lock alone and disturbs nobody: it works with names of its own, and removes
	// these again, even if ctx ends. That something is not allowed is a finding and not an error.
	// Its error says why it could not go on; before that it has told what it found.
	Examine(ctx context.Context, e Examination, tell Tell) error
}

// NoLimit is a limit that is never reached.
const NoLimit = time.Duration(math.MaxInt64)

// A Request says who wants the lock and how.
type Request struct {
	// Owner describes who wants the lock. The backend sets Acquired and ID for every try; the ID is
	// a fresh one each time.
	Owner   owner.Record
	Strict  bool          // break a holder only if it is proven dead, never by its lease
	Grace   time.Duration // before breaking a holder wait for this long, too, and look again
	Timeout time.Duration // for how long we are going to wait at most; 0: one try; NoLimit: for ever
	// Several says that this is one of several locks that one process waits for, at the same time or
	// one after the other. Then Wait may not keep a thread of its own that does not end with its
	// context.
	Several bool
	// Polls is how often to ask while waiting, if nothing wakes us. nil: as is usual for this kind
	// of lock.
	Polls *backoff.Config
	Clock clock.Clock
	// Memory, if not nil, knows what earlier tries saw of others.
	Memory Memory
	// Moved decides what happens if the path of the lock leads to another file than before, while
	// the holder still has the lock of the old file. nil: that is a loss. Otherwise it is told once,
	// at a heartbeat, and what the lock guards goes on until it is done. Its release is a loss then.
	Moved func(error)
	// Broke, if not nil, is told in Try of each dead holder whose lock was broken for us.
	Broke func(lock string, dead Holder)
	// Beside, if not nil, is told in Try of another lock on the same thing, which does not exclude the
	// one that we have got.
	Beside func(lock, what string)
}

// A Memory lasts longer than a try. Programs that come for the lock again and again, each time for
// less than a lease, can so watch a silent holder for a whole lease together. Package watch has
// the rules.
type Memory interface {
	// Since says that a sign of life of the acquisition with this id was seen at now. now was read
	// from the request's clock after the look. Since returns when that sign was first seen, which is
	// not after now.
	Since(id, sign string, now time.Duration) time.Duration
	// Known returns the ids of all acquisitions of which this sign was the last one seen.
	Known(sign string) []string
}

// An Attempt is one wish for the lock. Its methods are called one at a time. If a call hangs, no
// other is made until it has returned.
type Attempt interface {
	// Try tries once to take the lock, and breaks a holder that is dead. Its error is a *HeldError if
	// somebody else holds the lock. After that, or after an error that may pass (Passes), the helper
	// calls Wait and then Try again. For how long it bears errors that may pass is not the attempt's
	// to decide. After any other error the helper withdraws the attempt.
	Try(ctx context.Context) (Hold, error)
	// Wait returns nil when another Try is worth its cost, or the error of ctx. An error that may
	// pass is as good as nil. If there is a queue, Wait keeps its place in it, even while nothing
	// is known about the lock.
	Wait(ctx context.Context) error
	// Withdraw gives up the attempt and removes every trace of it. After a Try that returned a Hold
	// no method is called any more.
	Withdraw(ctx context.Context) error
}

// A Hold is a lock that is held. Its methods are called one at a time, except Tend. If a call hangs
// and is left behind, no other is made until it has returned, not even Release. So only what Tend
// has in common with the other methods needs a mutex.
type Hold interface {
	// ID returns the id of this acquisition.
	ID() string
	// Token returns the fencing token, which rises with every holder; 0 means none.
	Token() uint64
	// Heartbeat shows others that the holder lives, and makes sure that it still holds the lock. Its
	// error is ErrGone if it does not.
	Heartbeat(ctx context.Context) error
	// Release removes the lock. Its error is ErrGone if the lock was no longer there, and ErrStays
	// if it can do no more. After any other error it may be called again.
	Release(ctx context.Context) error
	// Tend tidies up in the lock's place: it removes, for example, what waiters left when they
	// crashed. The helper calls it now and then between heartbeats. While Tend hangs, the helper
	// calls the other methods all the same. Its errors mean nothing for the hold.
	Tend(ctx context.Context) error
}

// A KeptHold is a Hold of a descriptor, which the system may keep for its process, for however long
// that process is stopped.
type KeptHold interface {
	Hold
	// Kept reports that nobody takes the lock by its lease while this process lives. Others can
	// still remove or replace it, by hand or with another tool; after that no heartbeat succeeds,
	// unless they put it back. So a heartbeat that succeeds proves that the lock was ours all along,
	// even if the lease was over meanwhile.
	Kept() bool
	// Lend returns descriptors that a command inherits: one that is started now, or one that this
	// process becomes. The kernel keeps the lock while any process has these descriptors. If there
	// is no such command after all, the caller closes them. None: a command cannot share the hold.
	Lend() ([]int, error)
}

// An AlarmedHold is a Hold of a lock whose place tells by itself if something becomes of it.
type AlarmedHold interface {
	Hold
	// Alarm calls wake when something may have become of the lock: the next heartbeat is due then, and
	// tells. It returns then, or when ctx ends, and may be called beside all other methods.
	Alarm(ctx context.Context, wake func())
}

// A Success is the last time that what a lock guards succeeded under it.
type Success struct {
	// Ago is how long ago that was, by the clock of the lock's place alone. It is below 0 if that
	// clock was set back since. If the place tells times to the minute, it is the least that it
	// can be.
	Ago  time.Duration
	Host string // whose success it was; empty: nobody knows
	By   string // the user who put it down, if that is known to be neither this one nor root; else empty
}

// A Remover is a Backend that leaves something in place while the lock is free, such as a directory.
type Remover interface {
	// Remove releases an exclusive hold and removes what stays. If somebody else comes for the lock
	// meanwhile, it stays, and the error has the code held. If all was removed, fencing tokens begin
	// anew, but where the place itself counts them.
	Remove(ctx context.Context, h Hold) error
}

// A Report is what Read saw.
type Report struct {
	Token   uint64   // the fencing token of the holders, or else of the last holder; 0 means none
	Holders []Holder // none: the lock is free
	Waiters []Holder
	Queued  bool // the waiters are in the order in which they will be served
	// Crowd says that waiters leave no trace in the lock's place, so Waiters is always empty. As far
	// as the system shows, there are at least AtLeast of them.
	Crowd   bool
	AtLeast int
	// Unseen says, if nobody was seen to hold the lock, why that does not mean that it is free; "": it
	// is free then.
	Unseen  string
	Shelved bool        // Success and Broken are what there is; else whoever asks for them looks on the shelf
	Success *Success    // the last one on record; nil: none is known. Its age is for people
	Broken  *owner.Note // the last break by hand, as far as there is a note of it; else nil
	Stays   bool        // of a Remover: something of the lock is in its place
	Keeps   error       // why that is not to be removed, if it is known; else nil
	Beside  string      // another lock on the same thing, which does not exclude this one; "": none is known
}

// A Holder is one holder of a lock, or one waiter, as others see it.
type Holder struct {
	ID        string        // by which it is broken; if it is empty, by its Sign
	Entry     any           // what Strike needs, beside these two, to find it; only its kind knows what that is
	Record    *owner.Record // nil: what the lock contains is not a record
	Who       string        // without a record: what is known of it, as in "pid 4242 (rsync)"; else empty
	OfKernel  bool          // the kernel keeps the lock until no process has its descriptor, and nobody breaks it
	Outlasts  bool          // it has the lock for as long as it lives, though its lease be over (KeptHold)
	Kept      []int         // the processes that have that descriptor, as far as they are known
	Note      string        // what the lock contains instead of a record, or what is strange about it
	Advice    string        // how to go on if waiting is hardly of use; else empty
	Blocked   bool          // only a person frees the lock: no process is known to hold it
	Verdict   owner.Verdict
	PID       int           // the helper's, or what another tool wrote; 0: unknown
	Age       time.Duration // since it acquired the lock, or began to wait; for people
	Heartbeat time.Duration // since its last heartbeat; for people
	ByPlace   bool          // Heartbeat is by the clock of the lock's place, not by this machine's
	Lease     time.Duration // after how long without a heartbeat others may break it; 0: unknown
	Silence   time.Duration // how long it may be silent while it lives; 0: a quarter of its lease
	// Sign changes with each heartbeat, and means nothing else. It is empty if nobody can see the
	// heartbeats.
	Sign string
	// Lasting says that a Sign that is gone never comes back. So if two looks show the same Sign,
	// there was no heartbeat between them, whoever looked.
	Lasting bool
	// Silent is for how long at least it gave no sign of life, by our own clock; 0: nothing is
	// known.
	Silent time.Duration
	// Overdue says that it was silent for longer than its lease, and is not broken all the same:
	// whoever asks breaks only those that are proven dead.
	Overdue bool
}

// A Quota counts locks in a list: those in which there is a record of ours, or which our directories
// make, and the foreign ones, which have no record or cannot be read. Anybody can make many of those.
type Quota struct{ Known, Foreign int }

// A Listing says how far to look for locks in a directory and below it, and whom to tell. Told are
// every lock, and every directory that could not be looked into: one after the other, in order, in one
// goroutine. No symbolic link is followed, unless the directory itself is one.
type Listing struct {
	// Depth is how many directories deep a lock may be. 1: directly in the place. 0: the usual depth
	// of this kind of place.
	Depth int
	Tell  func(Listed)
	// Step, if not nil, is called before each look at a file system, because a look may hang there.
	// Requests to a server end by themselves.
	Step func()
	// Other, if not nil, is called for each file that may be another tool's lock. Such files are not
	// told, because nothing in them is ours.
	Other func()
	// Met, if not nil, reports whether somebody asked for the lock at an address and met a file that says
	// nothing of a holder. Nothing else tells such a file from all that may lie beside locks.
	Met func(lock string) bool
	// Most is how many locks are told. What is beyond is only counted, and the error is then a
	// *LeftOutError. Of a Quota of 0 all are told.
	Most Quota
	// Others are the forms of locks of kinds that are not asked for. A directory of such a form is
	// no lock of any other kind, and neither are the names in it that make the form, even if they
	// look like a lock. Files in it may be locks all the same.
	Others []Form
}

// A Form tells the directory of a lock from any other directory: these directories are all in it.
type Form []string

// Has reports whether a name is one of those directories.
func (f Form) Has(name string) bool { return slices.Contains(f, name) }

// A Listed is a lock that was found.
type Listed struct {
	Lock   string // its address
	Report Report
	// Err is why the lock could not be looked at. If Lock is empty, it names a directory in which
	// there may be locks.
	Err error
}

// An Examination says how thorough Examine is to be.
type Examination struct {
	Idle   time.Duration // how long to leave a connection idle, to see whether the server closes it
	Rounds int           // in an object store: how often many processes create the same object at a time
	// Progress, if not nil, is told again and again how far a long check is.
	Progress func(text string)
}

// A Check is one thing that Examine found out about a place.
type Check struct {
	Name    string // of what was looked at, as in "exclusive create"
	Finding Finding
	Text    string // what was seen
	Advice  string // what to do about it; empty if it is fit
}

// A Finding is the outcome of a check.
type Finding string

// The findings.
const (
	Fit     Finding = "fit"
	Unknown Finding = "unknown" // Examine could not find out
	Weak    Finding = "weak"    // locks work, but see the advice
	Unfit   Finding = "unfit"   // locks there are not safe, or not possible
)

// A Tell is told of one check after the other.
type Tell func(Check)

// A Reaping says what is to be removed by age from a directory full of locks.
type Reaping struct {
	MaxAge time.Duration // only what is at least so old, by the server's clock, or proven dead
	Names  string        // only locks of these names, a pattern as of path.Match; "" for all
	Remove bool          // false: only tell what would be removed
	// Watch is for how long to watch for heartbeats at most. What would have to be watched for longer
	// stays.
	Watch time.Duration
	Clock clock.Clock // to watch by; nil: this machine's
}

// What a Reaped is.
const (
	ReapedEmpty   = "empty lock" // it says nothing about its holder
	ReapedHolder  = "holder"
	ReapedWaiter  = "waiter"
	ReapedScratch = "scratch" // doctor or reap made it for itself
	ReapedOther   = "other"   // it is not a lock
)

// A Reaped is one thing that Reap looked at.
type Reaped struct {
	Path    string
	What    string
	Holder  Holder
	Age     time.Duration // since its last sign of life, by the server's clock
	Due     bool          // it is old enough and shows no sign of life, or it is proven dead
	Removed bool
	Note    string // why it stays, even if it is due
	Err     error  // why it was to be removed and could not be
}

// ErrGone says that the lock, or our entry in it, is no longer there.
var ErrGone = errors.New("the lock is no longer there")

// ErrStays says that a Release can do no more: our entry is gone, but what stays of the lock keeps
// others out until a person removes it. The error of that Release wraps it.
var ErrStays = errors.New("what is left of it stays until somebody removes it")

// ErrNoAnswer says that a call was left behind because it hangs. If a call returns it, that call
// itself has ended, and another one that it had made was left behind.
var ErrNoAnswer = errors.New("no answer in time")

// ErrLives says that a lock cannot be broken by its id: its helper lives, and the system keeps the
// lock for it.
var ErrLives = errors.New("its helper lives, and keeps it")

// ErrNoTokens says that holders of this lock get no fencing tokens.
var ErrNoTokens = errors.New("holders of this lock get no fencing tokens")

// A HeldError says that somebody else holds the lock, or will in a moment.
type HeldError struct {
	Lock   string
	Holder Holder
	Ahead  int          // in a queue: how many wait before us
	Others []*HeldError // if any of several locks would do: why each other that may still be had is not free
	// Queued says that nobody holds the lock, but Holder is before us in the queue. We hold back only
	// for a moment.
	Queued bool
	// Yielding says that we could share the lock with its holders, but hold back because Holder waits
	// for it alone.
	Yielding bool
	// Obstacle, if not nil, is why nobody can tell at the moment whether the lock is held. It may
	// pass. Then Holder is whom we saw before, if anybody.
	Obstacle error
}

// An Error is a failure with its code and advice.
type Error struct {
	Code protocol.Code
	Lock string // the address
	Op   string // what was being done, as in "create lock file"
	Err  error  // the cause
	Hint string // what to do next; may be empty
	// Lasts says that trying again does not help, although the code is unreachable. Somebody must
	// correct something first, such as a host's name, or the key that is trusted.
	Lasts bool
}

// A Name is the address of a lock. Its methods make the errors about that lock.
type Name string

// CodeOf returns the code that an error of a backend stands for.
func CodeOf(err error) protocol.Code {
	var held *HeldError
	var e *Error
	switch {
	case errors.As(err, &held) && held.Obstacle != nil:
		return CodeOf(held.Obstacle)
	case errors.As(err, &held):
		return protocol.Held
	case errors.Is(err, ErrGone):
		return protocol.Gone
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, ErrNoAnswer):
		return protocol.Unreachable
	}
	return protocol.Internal
}

// Passes reports that an error may pass by itself: the lock's place did not answer, or had no time,
// or something on the way answered in its stead. Then nothing is known about the lock. Every kind
// of lock gives such an error the code unreachable. It gives that code to no other error, unless
// the error says that it lasts (Error.Lasts).
func Passes(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok && e.Lasts {
		return false
	}
	return CodeOf(err) == protocol.Unreachable
}

// A Scheme is how an address begins, and what it leads to.
type Scheme struct {
	Name string
	// Port is the usual port of the servers that the scheme leads to. Then addresses are
	// "scheme://user@host:port/path". Without a Port they are "scheme:/path".
	Port string
	// Several says that an address may name several servers of one lock, as in "host,host:port".
	Several bool
	// About says in a few words what the locks are.
	About string
}

// An Address names a lock: "scheme:/path" or "scheme://user@host:port/path", and perhaps
// "?option=value&…" after it. In the path "%25" stands for "%" and "%3F" for "?". On a server the
// path begins in the directory where a log in leads. If it begins with two slashes, or with "/%2F"
// (RFC 1738), it begins at the root.
type Address struct {
	Scheme  string
	User    string // empty: none is given
	Host    string // lower case, "host" or "host:port", without the usual port, or several with commas between them; empty: no server
	Path    string // absolute and clean; "//" at its beginning is the root of a server; "/" and "//" alone are places
	Options map[string]string
	Place   bool // it is that of a directory of locks, so its last name may be longer than that of a lock

	given string // how it was spelled, without what may be a password; empty: it was not read from a text
}

// Access is what a server asks for and an address does not say.
type Access struct {
	// Password returns the password of a user at a host (as in Address), or "" for none. It also
	// returns where the password stands, for people: a file or $VARIABLE. It is called at every log
	// in. nil: there are no passwords.
	Password func(user, host string) (password, source string, err error)
	// CA is a file with the certificates to trust, in PEM, instead of the system's.
	CA string
	// Insecure accepts any certificate. Then whoever sits between us and the server can read the
	// password and invent answers.
	Insecure bool
	// Certificate is a file with our own certificate and its key, in PEM; empty: we have none.
	Certificate string
	// SSH is the command that reaches a server of sftp:, with arguments of its own. Empty: ssh.
	SSH string
}
