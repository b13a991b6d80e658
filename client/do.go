package client

import (
	"context"
	"errors"
)

// Do acquires the lock at an address, or of a profile, does the work, and releases the
// lock. The context of the work ends when ctx does, and when the lock is lost, with the
// *LostError as its cause: the work has to stop then. Do returns what the work returns,
// and beside it, as errors.Join does, why the lock was lost or could not be released.
// Without the lock there is no work, and the errors are those of Acquire.
func Do(ctx context.Context, address string, work func(ctx context.Context) error, options ...Option) (err error) {
	lock, err := Acquire(ctx, address, options...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	held := lock.Context()
	context.AfterFunc(held, func() { cancel(context.Cause(held)) })
	defer func() { // after a panic, too
		cancel(ErrReleased) // before anybody else can have the lock
		if loss := lock.Release(); loss != nil {
			err = errors.Join(err, loss)
		}
	}()
	return work(ctx)
}
