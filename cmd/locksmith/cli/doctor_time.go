package cli

import (
	"context"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// checkTime is how long a single check may take, apart from its waiting.
const checkTime = 2 * time.Minute

// examineInTime leaves an examination behind that hangs, as it does on a dead
// server of a hard mount.
func examineInTime(ctx context.Context, b backend.Backend, place string, e backend.Examination, tell backend.Tell) error {
	checks, done := make(chan backend.Check), make(chan error, 1)
	go func() { done <- b.Examine(ctx, e, func(c backend.Check) { checks <- c }) }()
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
