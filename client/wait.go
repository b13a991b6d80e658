package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"locksmith/protocol"
)

// A WaitPolicy decides after each refusal how long to pause before the next try. tries counts
// from 1, waited is the time since Acquire began, and held is the holder that was seen. If
// goesOn is false, Acquire gives up with ErrGaveUp. The option Timeout bounds the policy, too;
// with 0 there is one try and no policy. The option Retries is refused beside a policy, which
// counts tries itself.
//
// A pause of 0 leaves the wait to the helper, as without a policy. When another holder is seen,
// the policy is asked again. A pause below 0 means to try again at once. One helper waits all
// the while, and keeps its place in a queue. A helper that cannot ask, of an older version or of
// others, is started anew for each try.
type WaitPolicy func(tries int, waited time.Duration, held *HeldError) (pause time.Duration, goesOn bool)

// byPolicy waits as the policy says, and no longer than the timeout.
func (a *acquisition) byPolicy(ctx context.Context) (*Lock, error) {
	if lock, err := a.try(ctx, []string{"--ask"}, false); !refusesFlag(err) {
		return lock, err
	}
	return a.byTries(ctx)
}

// refusesFlag reports whether a helper does not know a flag. If the flag was another than --ask,
// the helper says so again at the next try.
func refusesFlag(err error) bool {
	refused, ok := errors.AsType[*HelperError](err)
	return ok && refused.Code == protocol.Usage
}

// answer asks the policy about a refusal, and passes on what it says. If the policy gives up,
// the helper has ended when answer returns.
func (a *acquisition) answer(h *helper, busy protocol.Line) error {
	goesOn := false
	defer func() { // after a panic, too
		if !goesOn {
			h.dismiss()
		}
	}()
	a.sees(a.heldBy(busy))
	if err := a.ask(); err != nil {
		return err
	}
	goesOn = true
	if answer, err := protocol.Pause(a.pause).Format(); err == nil {
		_, _ = h.stdin.WriteString(answer) // if the helper has gone away, its output says so
	}
	return nil
}

// byTries has a helper for each try, and one to wait if the policy leaves the wait to the
// helper.
func (a *acquisition) byTries(ctx context.Context) (*Lock, error) {
	for {
		lock, err := a.try(ctx, oneTry(), false)
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

// rest pauses as the policy said.
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

// shortest replaces a pause below 0, which time.Until returns when it is late. 0 would leave the
// wait to the helper.
const shortest = time.Millisecond

// errPause says that a waiting helper was ended because the policy wants a pause.
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

// knows reports whether this holder is the one that was seen last.
func (a *acquisition) knows(held *HeldError) bool {
	return a.held != nil && !a.held.isOther(held.Holder)
}

// sees remembers a holder. It calls the function of the option Waiting unless this holder is the
// one that was seen last.
func (a *acquisition) sees(held *HeldError) {
	known := a.knows(held)
	held.Waited = time.Since(a.begun)
	a.held = held
	if !known && a.waiting != nil {
		a.waiting(held)
	}
}

// follow tells of a holder that a waiting helper sees. It returns nil if the helper shall wait
// on; else the helper has ended.
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

// An event is the part that matters here of a line that a helper writes for --events.
type event struct {
	Event  string
	Lock   string // one of a set
	Holder struct {
		ID, User, Host string
		PID            int
	}
	Why string
}

// listen makes a pipe for the helper's events, and begins to read them. It returns the end to
// write to, which is closed when the helper has it, and what --events calls that end.
func (h *helper) listen(lock string) (w *os.File, name string, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	if name, err = inherit(h.cmd, w); err != nil {
		_, _ = r.Close(), w.Close()
		return nil, "", err
	}
	h.seen = make(chan *HeldError, 1)
	go h.readEvents(lock, r)
	return w, name, nil
}

// readEvents reads to the end, so that the helper never finds the pipe full.
func (h *helper) readEvents(lock string, r *os.File) {
	defer r.Close()
	lines := bufio.NewReaderSize(r, protocol.MaxEvent)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		var e event
		if json.Unmarshal(line, &e) == nil && e.Event == "waiting" {
			h.see(e.held(lock))
		}
	}
}

// see puts a holder in the place of one that nobody has read yet.
func (h *helper) see(held *HeldError) {
	select {
	case <-h.seen:
	default:
	}
	h.seen <- held
}

// held is the error that says the same as the event. lock is the lock's name, unless the event
// is of one of a set.
func (e event) held(lock string) *HeldError {
	if e.Lock != "" {
		lock = e.Lock
	}
	if e.Why == "" {
		e.Why = lock + ": held by somebody else"
	}
	return &HeldError{Lock: lock, Code: protocol.Held, Text: protocol.CleanText(e.Why, protocol.MaxLine),
		Holder: protocol.Holder{ID: e.Holder.ID, User: e.Holder.User, Host: e.Holder.Host, PID: e.Holder.PID}}
}
