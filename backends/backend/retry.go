package backend

import (
	"context"
	"errors"
	"fmt"
)

// Acquire calls Try and Wait in turn until the lock is held. It bears every error that may pass.
// After any other error the caller withdraws the attempt.
func Acquire(ctx context.Context, a Attempt) (Hold, error) {
	for {
		h, err := a.Try(ctx)
		var held *HeldError
		if err == nil || !errors.As(err, &held) && !Passes(err) {
			return h, err
		}
		if err := a.Wait(ctx); err != nil && !Passes(err) {
			return nil, err
		}
	}
}

// ErrAgain says that somebody else got further while we looked at the lock, so we must look again.
var ErrAgain = errors.New("the lock changed while we looked at it")

// How often one Try, or one look, goes through its steps at most. It begins anew when somebody else
// made progress, or when an answer was missing or outdated.
const (
	Races       = 8
	KernelRaces = 32 // without a request to a server in between
)

// Again is ErrAgain with its reason. If the last try ends with it, Retry returns that reason.
func Again(reason error) error { return errors.Join(ErrAgain, reason) }

// Retry calls try until its error is not ErrAgain, at most so many times. Then it returns the
// *Error that the last ErrAgain came with, or else an ErrAgain that says how often it tried.
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

// A changedError is an ErrAgain that says how often Retry tried.
type changedError int

func (n changedError) Error() string {
	return fmt.Sprintf("it changed %d times while we tried", int(n))
}
func (changedError) Is(err error) bool { return err == ErrAgain }
