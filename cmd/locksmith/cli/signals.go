package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"locksmith/locksmith"
)

// interruptible makes a context, which ends at a signal, for a command.
func interruptible(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, stop := untilSignal(c.Context())
		defer stop()
		return run(ctx, args)
	}
}

// untilSignal returns a context that ends at the first signal to end, so that what was made can
// be removed. Its cause is a *locksmith.SignalError. The second signal ends the process.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := toEnd(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		cancelAt(ctx, cancel, signals)
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

var errUnread = errors.New("nobody reads our standard output any more")

// untilUnread returns a context that ends at a signal to end, or when nobody reads what is
// written any more.
func untilUnread(out *os.File) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	go cancelAt(ctx, cancel, toEnd(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT))
	go func() {
		if locksmith.Hangup(ctx, out, false) == nil {
			cancel(errUnread)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// cancelAt ends a context at a signal. It returns when the context has ended.
func cancelAt(ctx context.Context, cancel context.CancelCauseFunc, signals <-chan os.Signal) {
	select {
	case s := <-signals:
		cancel(&locksmith.SignalError{Signal: s})
	case <-ctx.Done():
	}
}

// toEnd passes on signals to end. A signal that is ignored stays ignored, as SIGHUP does under
// nohup.
func toEnd(signals ...os.Signal) chan os.Signal {
	end := make(chan os.Signal, 1)
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(end, s)
		}
	}
	return end
}
