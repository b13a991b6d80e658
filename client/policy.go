package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/protocol"
)

// A WaitPolicy decides after each refusal how long to pause before the next try; tries
// counts from 1, waited is the time since Acquire began. False gives up, with ErrGaveUp.
// The option Timeout bounds the policy, too, and with 0 there is one try and no policy;
// Retries is refused beside it, for a policy counts the tries itself.
//
// A pause of 0 leaves the waiting to a helper, as there is without a policy, until another
// is seen to have the lock: then the policy is asked again. Less than 0 is no pause. Before a pause of its own
// each try is a helper of its own. So there is no place in a queue, and no try that
// watches a silent holder for its whole lease: one that died on another machine is then
// only broken by those who wait without pauses.
type WaitPolicy func(tries int, waited time.Duration, held *HeldError) (pause time.Duration, goesOn bool)

// oneTry has the helper not wait.
var oneTry = []string{"--timeout", "0"}

// byPolicy waits as the policy says, and no longer than the timeout.
func (a *acquisition) byPolicy(ctx context.Context) (*Lock, error) {
	if a.timeout != nil {
		bounded, cancel := context.WithTimeoutCause(ctx, *a.timeout, outOfTime(*a.timeout))
		defer cancel()
		ctx = bounded
	}
	a.begun = time.Now()
	for {
		lock, err := a.try(ctx, oneTry, false)
		held, refused := err.(*HeldError)
		if !refused || held.Code == protocol.Timeout {
			return lock, err
		}
		a.sees(held)
		if ctx.Err() != nil {
			return nil, a.stopped(ctx)
		}
		if err := a.ask(); err != nil {
			return nil, err
		}
		if a.pause == 0 {
			lock, err := a.try(ctx, nil, true)
			if !errors.Is(err, errPause) {
				return lock, err
			}
		}
		if err := a.rest(ctx); err != nil {
			return nil, err
		}
	}
}

// rest is the policy's pause.
func (a *acquisition) rest(ctx context.Context) error {
	timer := time.NewTimer(a.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return a.stopped(ctx)
	}
}

// shortest is a pause that ended before it began, as time.Until may say.
const shortest = time.Millisecond

// errPause ends a helper's waiting, for a pause of the policy's.
var errPause = errors.New("the policy wants a pause")

// ask asks the policy about the holder.
func (a *acquisition) ask() error {
	a.asked++
	pause, ok := a.policy(a.asked, time.Since(a.begun), a.held)
	if !ok {
		return fmt.Errorf("%w: %w", ErrGaveUp, a.held)
	}
	if a.pause = pause; pause < 0 {
		a.pause = shortest
	}
	return nil
}

// knows reports that this is who was seen last.
func (a *acquisition) knows(held *HeldError) bool {
	return a.held != nil && !a.held.isOther(held.Holder)
}

// sees remembers who has the lock, and tells of it if that is another than before.
func (a *acquisition) sees(held *HeldError) {
	known := a.knows(held)
	a.held = held
	if !known && a.waiting != nil {
		a.waiting(held)
	}
}

// follow is what comes of a helper's seeing somebody: nil if it shall wait on.
func (a *acquisition) follow(h *helper, held *HeldError) error {
	if a.knows(held) {
		return nil
	}
	waitsOn := false
	defer func() { // after a panic, too
		if !waitsOn {
			h.dismiss()
		}
	}()
	a.sees(held)
	if a.policy != nil {
		if err := a.ask(); err != nil {
			return err
		}
		if a.pause > 0 {
			return errPause
		}
	}
	waitsOn = true
	return nil
}
