package locksmith

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/owner"
	"locksmith/locksmith/events"
	"locksmith/protocol"
)

// An EventWriter stores events. Its Write may hang.
type EventWriter interface{ Write(events.Event) error }

const (
	// maxQueue is how many events may wait for a file that does not answer.
	maxQueue = 64
	// maxEventText and maxEventName limit texts, in bytes, so that an event rarely exceeds what a
	// pipe takes at once.
	maxEventText = 1024
	maxEventName = 256
)

// A Recorder is a Client that wraps another one, and writes down what that one is told. A broken
// writer never keeps the helper from its lock: the failure is logged once, and the events are
// lost.
type Recorder struct {
	Client
	helper   *Helper
	command  string
	place    owner.Place
	start    time.Duration
	locks    []string // what every event says about the locks
	modes    []string
	meta     map[string]string
	behind   obstacle
	waiting  bool // an event has told of behind
	toldLoss bool
	due      time.Duration // when the next heartbeat is expected
	began    time.Duration // when the release began
	to       EventWriter
	queue    chan func()       // writes that wait
	writer   *detached.ErrCall // the call that makes the writes
	warn     sync.Once
}

// Record makes a helper write down its events. The helper must have its client, and not run yet.
// command is the base name of the command that the lock guards, or empty.
func (h *Helper) Record(to EventWriter, command string) *Recorder {
	r := &Recorder{
		Client: h.Client, helper: h, to: to, command: protocol.CleanText(command, maxEventName), place: owner.Here(),
		start: h.Request.Clock.Now(), queue: make(chan func(), maxQueue),
	}
	for _, m := range h.Request.Owner.Meta {
		if r.meta == nil {
			r.meta = map[string]string{}
		}
		r.meta[m.Key] = protocol.CleanText(m.Value, maxEventName)
	}
	r.name()
	h.Client = r
	r.writer = detached.GoErr(func() error {
		for write := range r.queue {
			write()
		}
		return nil
	})
	return r
}

// name notes which locks the events are about. If any of several would do, that is the one held
// in the end.
func (r *Recorder) name() {
	r.locks, r.modes = []string{r.helper.Address}, nil
	if r.helper.Locks != nil {
		r.locks, r.modes = r.helper.addresses(), r.helper.modes()
	}
}

// An obstacle is what a waiter waits for.
type obstacle struct {
	lock   string // which lock of a set; else ""
	holder events.Holder
}

// Waiting implements Client.
func (r *Recorder) Waiting(held *backend.HeldError) {
	if behind := r.obstacle(held); !r.waiting || behind != r.behind {
		r.waiting, r.behind = true, behind
		r.tell(events.Event{Kind: events.Waiting, Lock: behind.lock, Holder: behind.holder, Why: textOf(held)})
	}
	r.Client.Waiting(held)
}

// Inherit implements Heir for a client that is one.
func (r *Recorder) Inherit(lend func() ([]int, error)) {
	if heir, ok := r.Client.(Heir); ok {
		heir.Inherit(lend)
	}
}

// CallOff implements Starter for a client that is one.
func (r *Recorder) CallOff(loss *LossError) {
	if starter, ok := r.Client.(Starter); ok {
		starter.CallOff(loss)
	}
}

func (r *Recorder) obstacle(held *backend.HeldError) obstacle {
	o := obstacle{holder: HolderOf(held.Holder)}
	if r.helper.Locks != nil && slices.Contains(r.locks, held.Lock) {
		o.lock = held.Lock
	}
	return o
}

// HolderOf is a holder as events describe it.
func HolderOf(seen backend.Holder) events.Holder {
	h := events.Holder{ID: seen.ID, PID: max(seen.PID, 0)}
	if record := seen.Record; record != nil {
		h.ID, h.User, h.Host = record.ID, record.User, record.Place.Host
	}
	for _, s := range []*string{&h.ID, &h.User, &h.Host} {
		*s = protocol.CleanText(*s, maxEventName)
	}
	return h
}

// Broke implements observer.
func (r *Recorder) Broke(b BrokenLock) {
	o := r.obstacle(&backend.HeldError{Lock: b.Lock, Holder: b.Dead})
	r.tell(events.Event{Kind: events.Broke, Lock: o.lock, Holder: o.holder, Why: b.String()})
}

// Start implements Client.
func (r *Recorder) Start(g protocol.Grant) error {
	r.name()
	r.tell(events.Event{Kind: events.Acquired, ID: g.ID, Token: g.Token, Tokens: g.Tokens, Lease: events.In(g.Lease), Waited: events.In(g.Waited)})
	err := r.Client.Start(g)
	r.due = r.now() + r.helper.refresh() // it knows nothing of heartbeats before
	return err
}

// Beat implements Client. A heartbeat counts as late only if it is more than a quarter of its
// interval late.
func (r *Recorder) Beat(ago time.Duration) {
	every := r.helper.refresh()
	if late := r.now() - r.due; late > every/4 {
		r.tell(events.Event{Kind: events.Late, Late: events.In(late)})
	}
	r.due = r.now() - ago + every
	r.Client.Beat(ago)
}

// Releasing implements observer.
func (r *Recorder) Releasing() { r.began = r.now() }

// Missed implements observer.
func (r *Recorder) Missed(err error) {
	r.tell(events.Event{Kind: events.Late, Late: events.In(max(r.now()-r.due, 0)), Error: textOf(err)})
}

// Lost implements Client.
func (r *Recorder) Lost(ctx context.Context, loss *LossError) {
	r.lost(loss)
	r.Client.Lost(ctx, loss)
}

func (r *Recorder) lost(loss *LossError) {
	r.toldLoss = true
	beat := r.due - r.helper.refresh() // the last
	r.tell(events.Event{Kind: events.Lost, Code: loss.Code, Text: textOf(loss), Silent: events.In(max(r.now()-beat, 0))})
}

// Finish writes down what Helper.Run returned, and is the last call. A loss is told already, unless it
// came before the command began.
func (r *Recorder) Finish(held time.Duration, err error) {
	switch loss := asLoss(err); {
	case err == nil:
		r.tell(events.Event{Kind: events.Released, Held: events.In(held), Release: events.In(min(r.now()-r.began, held))})
	case loss != nil && !r.toldLoss:
		r.lost(loss)
	case loss == nil:
		r.tell(events.Event{Kind: events.GaveUp, Waited: events.In(r.now() - r.start), Code: CodeOf(err), Text: textOf(err)})
	}
	close(r.queue)
	if !r.writer.Await(context.Background(), r.helper.Request.Clock, lineTimeout, 0) {
		r.complain(fmt.Errorf("the last: %w", backend.ErrNoAnswer))
	}
}

// tell writes an event down. If that takes long, the event stays queued.
func (r *Recorder) tell(e events.Event) {
	e = Stamped(e, r.helper.Request.Clock, r.place)
	e.Locks, e.Modes, e.Mode = r.locks, r.modes, r.helper.Request.Owner.Mode
	e.Command, e.Meta = r.command, r.meta
	isQueued := true
	write := detached.GoIn(func(write func()) {
		select {
		case r.queue <- write:
		default:
			isQueued = false
		}
	}, func() (struct{}, error) {
		err := r.to.Write(e)
		if err != nil {
			r.complain(err)
		}
		return struct{}{}, err
	})
	if !isQueued {
		r.complain(backend.ErrNoAnswer)
		return
	}
	write.Await(context.Background(), r.helper.Request.Clock, beatTimeout, 0)
}

func (r *Recorder) complain(err error) {
	r.warn.Do(func() {
		r.helper.Log.Warn("cannot write down all events, going on without", "lock", r.helper.Address, "error", err)
	})
}

// Stamped is e with the time, host and pid of this process.
func Stamped(e events.Event, c clock.Clock, here owner.Place) events.Event {
	e.Time, e.Boot, e.Clock = events.Stamp{Time: time.Now()}, events.In(c.Now()), clockName(here)
	e.Host, e.PID = here.Host, os.Getpid()
	return e
}

// clockName names the clock of this boot. A time namespace has a name of its own, because its
// clock shows other readings (time_namespaces(7)).
func clockName(here owner.Place) string {
	if here.Boot == "" {
		return ""
	}
	return here.Boot + "/" + here.TimeNS
}

func (r *Recorder) now() time.Duration { return r.helper.Request.Clock.Now() }

func textOf(err error) string { return protocol.CleanText(protocol.ErrorText(err), maxEventText) }

// An observer is a Client that wants to know more than a Client needs.
type observer interface {
	Broke(BrokenLock) // the lock of a dead holder was broken
	Missed(error)     // a heartbeat failed
	Releasing()       // the lock is still held, but not wanted any more
}

func (s *session) missed(err error) {
	s.complain("heartbeat failed, trying again", err)
	if o, ok := s.helper.Client.(observer); ok {
		o.Missed(err)
	}
}

func (s *session) tellReleasing() {
	if o, ok := s.helper.Client.(observer); ok {
		o.Releasing()
	}
}
