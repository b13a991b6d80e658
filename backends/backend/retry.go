package backend

import (
	"context"
	"errors"
	"fmt"
)

// ErrAgain says that somebody else made progress while we looked at the lock: look again.
var ErrAgain = errors.New("the lock changed while we looked at it")

// Retry calls try until its error is not ErrAgain, at most so many times: each ErrAgain
// means that somebody else made progress. When the times are used up, the error is the
// *Error that the last ErrAgain came with, or else an ErrAgain that says how often.
func Retry[T any](ctx context.Context, times int, try func() (T, error)) (T, error) {
	var none T
	var fault *Error
	for range times {
		if err := ctx.Err(); err != nil {
			return none, err
		}
		got, err := try()
		if !errors.Is(err, ErrAgain) {
			return got, err
		}
		fault = nil
		errors.As(err, &fault)
	}
	if fault != nil {
		return none, fault
	}
	return none, changedError(times)
}

// A changedError says how often.
type changedError int

func (n changedError) Error() string {
	return fmt.Sprintf("it changed %d times while we tried", int(n))
}
func (changedError) Is(err error) bool { return err == ErrAgain }
