package cli

import (
	"context"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// inspectTime is how long a lock's place may take to answer.
const inspectTime = 30 * time.Second

// inTime leaves behind what hangs, as all does on a dead server.
func inTime[T any](parent context.Context, lock, op string, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(parent, inspectTime)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := do(ctx)
		done <- answer{value, err}
	}()
	var none T
	select {
	case a := <-done:
		if a.err != nil && parent.Err() != nil {
			return none, context.Cause(parent)
		}
		return a.value, a.err
	case <-ctx.Done():
		if parent.Err() != nil {
			return none, context.Cause(parent)
		}
		return none, noAnswer(lock, op, inspectTime)
	}
}

func noAnswer(lock, op string, after time.Duration) error {
	return &backend.Error{Code: protocol.Unreachable, Lock: lock, Op: op,
		Err: fmt.Errorf("no answer within %v", after), Hint: "look at the server and the mount"}
}
