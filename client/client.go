// Package client holds locks from Go programs: a handle around a locksmith helper, which it
// starts.
//
//	err := client.Do(ctx, "local:/var/lock/billing", func(ctx context.Context) error {
//		return bill(ctx) // ctx ends with the caller's, and when the lock is lost
//	})
//
// [Acquire] and [Lock.Release] are for what does not fit into a function, and [TryAcquire] does not
// wait. With the options [And] and [Or] each of them is for several locks. A service that takes a
// lock for each request has a [Pool]. [Key] names a lock by what comes from outside, as the name of a
// customer does. A program that crashes or is killed needs to do nothing: the helper notices, and
// releases.
//
// # Addresses
//
// An address names a lock: its kind, and where it is. All who lock write it alike. The path is
// absolute, and has %25 for a percent sign and %3F for a question mark. Options of the kind follow
// a question mark. An address without a colon is the name of a profile, a file of settings.
//
//	local:/path             a lock file, for the processes of one machine
//	flock:/path             the kernel's lock on a file, that of flock(1); can be shared
//	nfs:/path               links in a directory, for hosts that mount it; shared, tokens
//	sftp://user@host/path   the same on an SFTP server; shared, tokens
//	ftp://user@host/path    a directory on an FTP server, or ftps:
//	s3://bucket/path        objects in a store; tokens
//	etcd://host,host2/path  keys in etcd; shared, with a queue and tokens
//	mkdir:/path             a directory, as scripts make and remove it
//	link:/path              a lock file, as dotlockfile makes it
//
// With ?style=dir those of mkdir: and ftp: can be shared, too, and have tokens.
//
// # Defaults
//
// A lock is exclusive. [Acquire] waits for as long as its context lasts. The lease is 60 s: a
// helper sends a heartbeat every 15 s or sooner, a loss is told 45 s after the last one that counts, and
// others may break the lock of a helper that they have watched in silence for 60 s. A helper has 15 s to end
// before it is killed.
//
// A call with a [Timeout] returns two seconds after it at the latest, whatever its helper does. [TryAcquire]
// waits for nobody, so it has two seconds in all, but 32 for a lock on a server or of a profile. A context
// that ends ends the call at once. A helper that has not ended by then does so behind the call, or
// is killed. Until then it may still have the lock, and the next try may meet it.
//
// The helper is what the option [Helper] says, else the program whose path is in $LOCKSMITH, else
// this program itself after [Init], else locksmith on PATH.
//
// # Errors
//
// [ErrHeld], with *[HeldError] for who holds the lock; [ErrUsage], for a call that makes no sense;
// [ErrNoHelper]; *[HelperError] for what else the helper said; *[ProtocolError] for a helper that
// does not speak the protocol; and the context's error and its cause, with ErrHeld as well if a
// holder was seen.
//
// # Losses
//
// A loss is [ErrLost]: it closes [Lock.Lost], ends [Lock.Context] with a *[LostError] as the cause, and is
// returned by [Lock.Err], [Lock.Release] and [Do]. A program that ignores context.Canceled asks for
// ErrLost first. A helper that gets SIGTERM releases, which is a loss too: systemd sends SIGTERM to
// every process of a service, unless told KillMode=mixed.
//
// Between the moment a lock is lost and the moment the program stops, the program works without it.
// Where that must not be, pass [Lock.Token] on to what the lock guards, and let that refuse older
// tokens. In the function that Do calls, the token is FromContext(ctx).Token(). Ask for a lock with
// a token by the option [Fenced]: a comparison with 0 guards nothing.
package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// defaultGrace is longer than a helper needs that cannot release its lock, and says so. It tries
// for 10 s (--release-timeout), after an answer for which it may be waiting already.
const defaultGrace = 15 * time.Second

// Do acquires the lock at an address, does the work, and releases the lock. The work's context is
// [Lock.Context]: it ends when ctx does, and when the lock is lost, with the *LostError as its
// cause. Then the work has to stop. Do returns what the work returns. If the lock was lost, or
// could not be released, Do returns that *LostError instead. Its text and its field Work have the
// work's error. errors.Is finds ErrLost in the *LostError, and context.Canceled only if ctx
// itself has ended. Without the lock there is no work, and the errors are those of [Acquire].
func Do(ctx context.Context, address string, work func(ctx context.Context) error, options ...Option) error {
	return (*Pool)(nil).Do(ctx, address, work, options...)
}

// Acquire acquires the lock at an address, and waits for it until ctx ends. After that the end of
// ctx ends [Lock.Context], and releases nothing. To bound the wait alone is for the option
// [Timeout].
func Acquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return (*Pool)(nil).Acquire(ctx, address, options...)
}

// TryAcquire is [Acquire] that does not wait, whatever the options say. The error is ErrHeld if
// another holder has the lock.
func TryAcquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return (*Pool)(nil).TryAcquire(ctx, address, options...)
}

// do does the work under a lock, and releases it.
func (l *Lock) do(callers context.Context, work func(context.Context) error) (err error) {
	defer func() { // after a panic, too
		_ = l.Release()
		select {
		case <-l.ended: // if the work has called Release, too
		case <-l.lost:
		}
		if loss, isLost := errors.AsType[*LostError](l.Err()); isLost {
			err = loss.during(err, callers)
		}
	}()
	return work(l.Context())
}

// nameOf is the lock, or the locks, in messages.
func nameOf(locks []string) string {
	if n := len(locks); n > 3 {
		return fmt.Sprintf("%s + %s + %d more", locks[0], locks[1], n-2)
	}
	return strings.Join(locks, " + ")
}
