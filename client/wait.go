package client

import (
	"fmt"
	"time"

	"locksmith/protocol"
)

// A WaitPolicy decides after each refusal how long to pause before the next try. tries counts
// from 1, waited is the time since the call began, and held is the holder that was seen. If
// goesOn is false, the call gives up with ErrGaveUp. The option [Timeout] bounds the policy, too;
// with 0 there is one try and no policy. The option [Retries] is refused beside a policy, which
// counts tries itself.
//
// A pause of 0 leaves the wait to the helper, as without a policy. When another holder is seen,
// the policy is asked again. A pause below 0 means to try again at once. One helper waits all
// the while, and keeps its place in a queue.
type WaitPolicy func(tries int, waited time.Duration, held *HeldError) (pause time.Duration, goesOn bool)

// asks reports whether the helper shall ask after a refusal how to wait.
func (c *config) asks() bool { return (c.policy != nil || c.waiting != nil) && !c.once() }

// answer tells of a refusal, asks the policy about it, and passes on what the policy says. If there
// is an error, or a panic, the helper ends.
func (a *acquisition) answer(h *helper, busy protocol.Line) error {
	goesOn := false
	defer func() {
		if !goesOn {
			h.dismiss()
		}
	}()
	a.sees(a.heldBy(busy))
	pause, err := a.ask()
	if err != nil {
		return err
	}
	goesOn = true
	if answer, err := protocol.Pause(pause).Format(); err == nil {
		_, _ = h.stdin.WriteString(answer) // if the helper has gone away, its output says so
	}
	return nil
}

// shortest replaces a pause below 0, which time.Until returns when it is late. 0 would leave the
// wait to the helper.
const shortest = time.Millisecond

// ask asks the policy about the holder, if there is one.
func (a *acquisition) ask() (pause time.Duration, err error) {
	if a.policy == nil {
		return 0, nil
	}
	a.asked++
	pause, ok := a.policy(a.asked, time.Since(a.begun), a.held)
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: %w", ErrGaveUp, a.held)
	case pause < 0:
		return shortest, nil
	}
	return pause, nil
}

// sees remembers a holder. It calls the function of the option Waiting unless this holder is the
// one that was seen last.
func (a *acquisition) sees(held *HeldError) {
	known := a.held != nil && !a.held.isOther(held.Holder)
	a.held = held
	if !known && a.waiting != nil {
		a.waiting(held)
	}
}
