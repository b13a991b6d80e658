// Package client holds locks from Go programs: a handle around a locksmith helper, which it
// starts.
//
//	err := client.Do(ctx, "local:/var/lock/billing", func(ctx context.Context) error {
//		return bill(ctx) // ctx ends with the caller's, and when the lock is lost
//	})
//
// Acquire and Release are for what does not fit into a function. Acquire waits for as long as its
// context allows, TryAcquire does not wait, and Release returns when the lock has been removed. A
// program that uses them looks at two things beside its own context. Lock.Context ends with the
// lock, and not when the program's own context ends. The error of Release tells of a loss. A
// program that crashes or is killed needs to do nothing: the helper notices, and releases.
//
// A service that takes a lock for each request has a Pool: its helpers serve one lock after
// another.
//
// The helper is what the option Helper says, else the program whose path is in $LOCKSMITH, else
// this program itself after Init, else locksmith on PATH.
//
// Errors: ErrHeld, with *HeldError for who holds the lock; ErrNoHelper; *HelperError for what
// else the helper said; *ProtocolError for a helper that does not speak the protocol; and the
// context's error and its cause, with ErrHeld as well if a holder was seen.
//
// A loss is ErrLost: it closes Lost, cancels Context with a *LostError as its cause, and is
// returned by Err, Release and Do. A program that ignores context.Canceled asks for ErrLost
// first. A helper that gets SIGTERM releases, which is a loss too: systemd sends SIGTERM to
// every process of a service, unless told KillMode=mixed.
//
// Caveat: between the moment a lock is lost and the moment the program stops, the program works
// without it. Where that must not be, pass Token on to what the lock guards, and let that refuse
// older tokens. In the function that Do calls, the token is FromContext(ctx).Token(). Ask for a
// lock with a token by the option Fenced: local:, flock:, link:, and mkdir: and ftp: without
// ?style=dir have no tokens, and a comparison with 0 guards nothing.
package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locksmith/client/internal/faking"
	"locksmith/protocol"
)

// defaultGrace is longer than a helper needs that cannot release its lock, and says so. It tries
// for 10 s (--release-timeout), after an answer for which it may be waiting already.
const defaultGrace = 15 * time.Second

// Do acquires the lock at an address, or of a profile, does the work, and releases the lock. The
// context of the work ends when ctx does, and when the lock is lost, with the *LostError as its
// cause. Then the work has to stop. Do returns what the work returns. If the lock was lost, or
// could not be released, Do returns that *LostError instead. Its text and its field Work have the
// work's error. errors.Is finds ErrLost in the *LostError, and context.Canceled only if ctx
// itself has ended. Without the lock there is no work, and the errors are those of Acquire.
// FromContext of the work's context is the lock, with its token.
func Do(ctx context.Context, address string, work func(ctx context.Context) error, options ...Option) error {
	return do(ctx, work, func() (*Lock, error) { return Acquire(ctx, address, options...) })
}

func do(ctx context.Context, work func(context.Context) error, acquire func() (*Lock, error)) (err error) {
	lock, err := acquire()
	if err != nil {
		return err
	}
	callers := ctx
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, lockKey{}, lock))
	held := lock.Context()
	context.AfterFunc(held, func() { cancel(context.Cause(held)) })
	defer func() { // after a panic, too
		cancel(ErrReleased) // before another process can have the lock
		_ = lock.Release()
		select {
		case <-lock.ended: // if the work has called Release, too
		case <-lock.lost:
		}
		if loss, isLost := errors.AsType[*LostError](lock.Err()); isLost {
			err = loss.during(err, callers)
		}
	}()
	return work(ctx)
}

// Acquire acquires the lock at an address, or of a profile, and waits for it until ctx ends. ctx
// is for the acquisition only: its end does not release a lock that is held. See the package
// comment for the errors.
func Acquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return AcquireSet(ctx, []string{address}, options...)
}

// TryAcquire is Acquire that does not wait, whatever the options say. The error is ErrHeld if
// another holder has the lock.
func TryAcquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return Acquire(ctx, address, append(options[:len(options):len(options)], Timeout(0))...)
}

// AcquireSet is Acquire for several locks of any kinds, all or none. One helper takes them, and
// does not wait in a circle with other sets. "shared:" or "exclusive:" before an address is for
// that lock, the option Shared for all others. The loss of one is the loss of all. One to 1,024
// addresses may be given; one that comes twice is taken once.
func AcquireSet(ctx context.Context, addresses []string, options ...Option) (*Lock, error) {
	c := config{grace: defaultGrace, locks: addresses, fake: faking.From(ctx)}
	for _, o := range options {
		o(&c)
	}
	a := &acquisition{config: c, name: nameOf(addresses), begun: time.Now()}
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	switch {
	case c.policy == nil || c.once():
		return a.try(ctx, c.waitFlags(), c.waiting != nil && !c.once())
	case c.retries != nil:
		return nil, &HelperError{Lock: a.name, Code: protocol.Usage,
			Text: fmt.Sprintf("%s: acquire: the option Retries does not go with Wait, whose policy counts the tries: let it give up", a.name)}
	}
	return a.byPolicy(ctx)
}

// AcquireAny is Acquire for whichever of several locks is free first. It waits for all of them
// at once, and never holds two. Lock.Index tells which it is. A lock that cannot be had is left
// out, unless there is no other.
func AcquireAny(ctx context.Context, addresses []string, options ...Option) (*Lock, error) {
	isAny := func(c *config) { c.any = true }
	return AcquireSet(ctx, addresses, append(options[:len(options):len(options)], flag("--any"), isAny)...)
}

// nameOf is the lock, or the locks, in messages.
func nameOf(locks []string) string {
	if n := len(locks); n > 3 {
		return fmt.Sprintf("%s + %s + %d more", locks[0], locks[1], n-2)
	}
	return strings.Join(locks, " + ")
}
