package locksmith

import (
	"context"
	"os"
	"time"

	"locksmith/locksmith/events"
)

const (
	// maxQueue is how many events wait for a file that does not answer.
	maxQueue = 64
	// maxEventText and maxEventName bound texts in bytes, so that an event hardly
	// is more than a pipe takes at once.
	maxEventText = 1024
	maxEventName = 256
)

// An entry is an event on its way, and where to say that it has arrived.
type entry struct {
	event events.Event
	done  chan error
}

// write is the one goroutine that writes.
func (r *Recorder) write(to EventWriter) {
	for q := range r.queue {
		err := to.Write(q.event)
		if err != nil {
			r.complain(err)
		}
		q.done <- err
	}
	r.ended <- nil
}

func (r *Recorder) complain(err error) {
	r.warn.Do(func() {
		r.helper.Log.Warn("cannot write down all events, going on without", "lock", r.helper.Address, "error", err)
	})
}

// tell writes an event down, or leaves it queued if that takes long.
func (r *Recorder) tell(e events.Event) {
	now := r.now()
	e.Time, e.Boot, e.Clock = time.Now(), now, r.clockName()
	e.Locks, e.Modes, e.Mode = r.locks, r.modes, r.helper.Request.Owner.Mode
	e.Host, e.PID, e.Command = r.place.Host, os.Getpid(), r.command
	q := entry{e, make(chan error, 1)}
	select {
	case r.queue <- q:
		_, _ = answer(context.Background(), r.helper.Request.Clock, beatPatience, q.done)
	default:
		r.complain(errNoAnswer)
	}
}

// clockName names the clock of this boot; in a time namespace it shows other
// readings (time_namespaces(7)).
func (r *Recorder) clockName() string {
	if r.place.Boot == "" {
		return ""
	}
	return r.place.Boot + "/" + r.place.TimeNS
}

func (r *Recorder) now() time.Duration { return r.helper.Request.Clock.Now() }
