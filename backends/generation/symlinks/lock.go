//go:build unix

package symlinks

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A Lock is one lock directory. It has the methods of a backend.Backend except Examine, which
// belongs to the place.
type Lock struct {
	owner.Env
	Dir     Dir
	Address backend.Name // for messages
	// HeadPause is how long the first in the queue waits between two looks at most, where
	// nothing wakes it; 0: as long as on a file system.
	HeadPause time.Duration
	// LeastLease is for how long others are watched, at least. Where times have whole seconds,
	// some heartbeats do not show.
	LeastLease time.Duration
	// OwnUsers: the place has this machine's numbers for users.
	OwnUsers bool
	// Use, if not nil, opens the place anew: for an attempt with this lease, and the hold that comes of
	// it; or, with a lease of 0, for one call that is neither's.
	Use func(lease time.Duration) *Lock
	// What Use may set. Check refuses what cannot be a lock directory, before each try and each such
	// call. CheckRemoval refuses to remove the lock. Rest lets go of what waiting needs, and unless
	// there is a hold, of all that the next call can open again.
	Check, CheckRemoval func(context.Context) error
	Rest                func(held bool)
	// Bells: those who use the lock on one host tell each other when they leave it.
	Bells bool
}

var _ backend.Locker = (*Lock)(nil)

// used makes one call with the lock, where Use opens it.
func used[T any](ctx context.Context, l *Lock, call func(*Lock) (T, error)) (result T, err error) {
	if l.Use == nil {
		return call(l)
	}
	opened := l.Use(0)
	defer opened.rest(false)
	if err := checked(ctx, opened.Check); err != nil {
		return result, err
	}
	return call(opened)
}

func checked(ctx context.Context, check func(context.Context) error) error {
	if check == nil {
		return nil
	}
	return check(ctx)
}

func (l *Lock) rest(held bool) {
	if l.Rest != nil {
		l.Rest(held)
	}
}

// A Dir is the lock directory: the few file-system calls the algorithm makes.
// Names are relative to it, with "/" between; "." is the directory itself. Errors are
// the system's own (errors.Is with unix.ENOENT and the like), never wrapped into
// something else.
// Each of the calls that change or read a name is one request to the server, so
// that nothing can happen within; List is not.
// When ctx ends, a call to a server ends, too, and its answer is lost. A call of the
// kernel ends when the kernel says so.
type Dir interface {
	// Prepare makes the directory and its two subdirectories where they are
	// missing.
	Prepare(ctx context.Context) error
	Mkdir(ctx context.Context, name string) error
	Rmdir(ctx context.Context, name string) error
	// Rename renames a directory; the new name is not in use.
	Rename(ctx context.Context, from, to string) error
	Symlink(ctx context.Context, target, name string) error
	Readlink(ctx context.Context, name string) (string, error)
	// ReadlinkNow is Readlink, but asks the server, not a cache.
	ReadlinkNow(ctx context.Context, name string) (string, error)
	Unlink(ctx context.Context, name string) error
	// List opens the directory anew and reads it to the end. It may miss names
	// that come or go meanwhile.
	List(ctx context.Context, name string) ([]string, error)
	// Touch sets a directory's modification time to the server's now.
	Touch(ctx context.Context, name string) error
	// Keep sets times to the server's now, without following a link, so that a cleaner by age leaves
	// these names. Of link, which we made, it leaves the modification time as it is. Nothing depends
	// on its success.
	Keep(ctx context.Context, link string, others ...string)
	// Look asks the server, not a cache, about what a name leads to. The names
	// in a directory that was just looked at are not outdated.
	Look(ctx context.Context, name string) (Sight, error)
	// Await returns after d, when ctx ends, or sooner if it can notice that the
	// name goes away, something in it does, the process ends, or a descriptor becomes
	// readable. It promises nothing but not to return much later.
	Await(ctx context.Context, name string, watched process.Process, d time.Duration, descriptors ...int)
}

// A Sight is what a look at a directory shows.
type Sight struct {
	// Sign changes with every heartbeat and means nothing else.
	Sign string
	// Modified is by the server's clock: to be compared only with another of
	// the same server, and only for fairness.
	Modified time.Time
	// Links is the number of links, 2 and one for each subdirectory on most
	// file systems, anything on others.
	Links uint64
	User  uint32 // whose it is, by the place's numbers; 0: root's, or not known
}
