package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/shelf"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/memory"
	"locksmith/protocol"
)

// A system call on a dead server may hang for good, whatever its context says. Here are all such
// calls of commands. Each is made in a goroutine that can be left behind.

const (
	// answerTime is how long a lock's place may take to answer.
	answerTime = 30 * time.Second
	// lookOp is the operation in the errors of a look.
	lookOp = "look at the lock"
)

// withDeadline makes a call and waits for it, but not for longer than answerTime, and not after
// the end of ctx. Then the error is the cause of that end.
func withDeadline[T any](ctx context.Context, lock, op string, do func(context.Context) (T, error)) (T, error) {
	return inLine(ctx, &detached.Line{}, lock, op, do)
}

// inLine is withDeadline for one of many calls. It does not wait again for one that has hung for as
// long as it may.
func inLine[T any](ctx context.Context, calls *detached.Line, lock, op string, do func(context.Context) (T, error)) (answer T, err error) {
	var got T // a call that is left behind may write this later
	back := false
	calls.Clock = clock.Runtime{}
	if calls.Free(ctx, 0, 0) {
		back, err = calls.Call(ctx, detached.Bounds{Limit: answerTime}, func(ctx context.Context) (err error) {
			ctx, cancel := context.WithTimeout(ctx, answerTime)
			defer cancel()
			got, err = do(ctx)
			return err
		}, nil)
	}
	if back {
		answer = got
	}
	if !back || errors.Is(err, context.DeadlineExceeded) {
		err = noAnswer(lock, op, answerTime)
	}
	return answer, orCause(ctx, err)
}

// orCause is the error of a call, or the cause of the end of ctx if that came first.
func orCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// inspecting looks at a lock, with what this user's earlier looks and tries have seen.
func inspecting(lock string, b backend.Backend) func(context.Context) (backend.Report, error) {
	return func(ctx context.Context) (backend.Report, error) {
		before := clock.Boot{}.Now()
		r, err := shelf.Inspect(ctx, b)
		if err == nil {
			remember(lock, &r, before)
		}
		return r, err
	}
}

// remember adds to a look that began at before: for how long each was silent by this user's
// earlier looks and tries. It remembers the look for later ones. If it cannot, no sign lasts from one try of
// this user to the next.
func remember(lock string, r *backend.Report, before time.Duration) {
	var failed error
	m := memory.Of(lock, func(err error) { failed = err })
	if m != nil {
		m.Tell(r, before, clock.Boot{}.Now())
		failed = nil // what could not be read is written anew
		m.Save()
	}
	if m != nil && failed == nil {
		return
	}
	for _, all := range [][]backend.Holder{r.Holders, r.Waiters} {
		for i := range all {
			all[i].Lasting = false
		}
	}
}

// look is one look at a lock, and at all who are there.
func look(ctx context.Context, lock string, b backend.Backend) (show.Lock, error) {
	seen := show.NewLock(lock, nil)
	r, err := withDeadline(ctx, lock, lookOp, inspecting(lock, b))
	if err == nil {
		seen.Take(r)
	}
	return seen, err
}

// follow makes a call that tells of one thing after another, and passes each on. When ctx ends,
// follow leaves the call behind. It does so with the error late, too, when limit has passed
// since the call announced its last step and told nothing more. A step may take so long. The
// reader of what we print may take longer.
func follow[T any](ctx context.Context, limit time.Duration, late error,
	call func(ctx context.Context, step func(), tell func(T)) error, tell func(T)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(limit, func() { cancel(late) })
	watch.Stop() // until there is a step
	defer watch.Stop()
	news := make(chan T)
	all := detached.Go(func() (struct{}, error) {
		return struct{}{}, call(ctx, func() { watch.Reset(limit) }, func(t T) {
			watch.Stop()
			select {
			case news <- t:
			case <-ctx.Done():
			}
		})
	})
	for {
		select {
		case t := <-news:
			tell(t)
		case <-all.Done():
			_, err := all.Result()
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func noAnswer(lock, op string, after time.Duration) *backend.Error {
	hint := "look at the server and the mount"
	if backend.HasServer(lock) { // it is a server, not a mount
		hint = "look at the server, and at the network between"
	}
	return &backend.Error{Code: protocol.Unreachable, Lock: lock, Op: op, Err: fmt.Errorf("no answer within %v", after), Hint: hint}
}
