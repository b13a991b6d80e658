package locksmith

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/locksmith/events"
	"locksmith/protocol"
)

// An EventWriter keeps events. It may hang.
type EventWriter interface{ Write(events.Event) error }

// A Recorder is a Guard that writes down what another Guard is told. Nothing that
// is wrong with the writer keeps the helper from its lock: it is logged once, and
// the events are lost.
type Recorder struct {
	Guard
	helper  *Helper
	command string
	place   owner.Place
	start   time.Duration
	locks   []string // what every event says about the locks
	modes   []string
	behind  obstacle
	waiting bool          // behind was told
	due     time.Duration // when the next heartbeat is
	letGo   time.Duration // when the release began
	queue   chan entry
	ended   chan error // when all that was queued is written
	warn    sync.Once
}

// Record makes a helper, which has its Guard but does not run yet, write down its
// events. command is the base name of what it guards, or empty.
func (h *Helper) Record(to EventWriter, command string) *Recorder {
	r := &Recorder{
		Guard: h.Guard, helper: h, command: protocol.CleanText(command, maxEventName), place: owner.Here(),
		locks: []string{h.Address}, start: h.Request.Clock.Now(), queue: make(chan entry, maxQueue), ended: make(chan error, 1),
	}
	if h.Locks != nil {
		r.locks, r.modes = h.addresses(), h.modes()
	}
	h.Guard = r
	go r.write(to)
	return r
}

// An obstacle is what a waiter waits for.
type obstacle struct {
	lock   string // of a set
	holder events.Holder
}

// Waiting implements Guard.
func (r *Recorder) Waiting(held *backend.HeldError) {
	if behind := r.obstacle(held); !r.waiting || behind != r.behind {
		r.waiting, r.behind = true, behind
		e := events.Event{Kind: events.Waiting, Lock: behind.lock, Text: textOf(held)}
		if behind.holder != (events.Holder{}) {
			e.Holder = &behind.holder
		}
		r.tell(e)
	}
	r.Guard.Waiting(held)
}

func (r *Recorder) obstacle(held *backend.HeldError) obstacle {
	o := obstacle{holder: holderOf(held)}
	if r.helper.Locks != nil && slices.Contains(r.locks, held.Lock) {
		o.lock = held.Lock
	}
	return o
}

func holderOf(held *backend.HeldError) events.Holder {
	h := events.Holder{ID: held.Holder.ID, PID: max(held.Holder.PID, 0)}
	if record := held.Holder.Record; record != nil {
		h.ID, h.User, h.Host = record.ID, record.User, record.Place.Host
	}
	for _, s := range []*string{&h.ID, &h.User, &h.Host} {
		*s = protocol.CleanText(*s, maxEventName)
	}
	return h
}

// Start implements Guard.
func (r *Recorder) Start(g protocol.Grant) error {
	r.due = r.now() + r.helper.refresh()
	r.tell(events.Event{Kind: events.Acquired, ID: g.ID, Token: g.Token, Tokens: g.Tokens, Waited: g.Waited})
	return r.Guard.Start(g)
}

// Beat implements Guard. Up to a quarter of the time between two heartbeats is not
// called late.
func (r *Recorder) Beat(ago time.Duration) {
	every := r.helper.refresh()
	if late := r.now() - r.due; late > every/4 {
		r.tell(events.Event{Kind: events.Late, Late: late})
	}
	r.due = r.now() - ago + every
	r.Guard.Beat(ago)
}

// Releasing implements observer.
func (r *Recorder) Releasing() { r.letGo = r.now() }

// Missed implements observer.
func (r *Recorder) Missed(err error) {
	r.tell(events.Event{Kind: events.Late, Late: max(r.now()-r.due, 0), Text: textOf(err)})
}

// Lost implements Guard.
func (r *Recorder) Lost(loss *LossError) {
	r.tell(events.Event{Kind: events.Lost, Code: loss.Code, Text: textOf(loss)})
	r.Guard.Lost(loss)
}

// Finish writes down what Helper.Run returned, and is the last call. A loss has
// been told already.
func (r *Recorder) Finish(held time.Duration, err error) {
	switch {
	case err == nil:
		r.tell(events.Event{Kind: events.Released, Held: held, Release: min(r.now()-r.letGo, held)})
	case asLoss(err) == nil:
		r.tell(events.Event{Kind: events.GaveUp, Waited: r.now() - r.start, Code: CodeOf(err), Text: textOf(err)})
	}
	close(r.queue)
	if back, _ := answer(context.Background(), r.helper.Request.Clock, lastPatience, r.ended); !back {
		r.complain(fmt.Errorf("the last: %w", errNoAnswer))
	}
}

func textOf(err error) string { return protocol.CleanText(err.Error(), maxEventText) }

// An observer is a Guard that is told more than it needs to guard.
type observer interface {
	Missed(error) // a heartbeat failed
	Releasing()   // the lock is not wanted any more, and still held
}

func (t *tenure) missed(err error) {
	t.complain("heartbeat failed, trying again", err)
	if o, ok := t.helper.Guard.(observer); ok {
		o.Missed(err)
	}
}

func (t *tenure) releasing() {
	if o, ok := t.helper.Guard.(observer); ok {
		o.Releasing()
	}
}
