package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// checkTime is how long a single check may take, apart from its waiting.
const checkTime = 2 * time.Minute

// examineInTime leaves an examination behind that hangs, as it does on a dead
// server of a hard mount.
func examineInTime(ctx context.Context, d backend.Doctor, place string, e backend.Examination, tell backend.Tell) error {
	checks, done := make(chan backend.Check), make(chan error, 1)
	go func() { done <- d.Examine(ctx, e, func(c backend.Check) { checks <- c }) }()
	for {
		timer := time.NewTimer(checkTime + e.Idle)
		select {
		case c := <-checks:
			tell(c)
		case err := <-done:
			timer.Stop()
			return err
		case <-timer.C:
			return &backend.Error{Code: protocol.Unreachable, Lock: place, Op: "examine",
				Err: fmt.Errorf("no answer within %v", checkTime+e.Idle), Hint: "look at the server and the mount; what the checks made may still be there"}
		}
		timer.Stop()
	}
}

// untilSignal returns a context that ends at the first signal to end, so that what
// was made can be removed; its cause is a *locksmith.SignalError. The second one
// ends the process.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(&locksmith.SignalError{Signal: s})
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

func signalStatus(e *locksmith.SignalError) int { return 128 + int(e.Signal.(syscall.Signal)) }
