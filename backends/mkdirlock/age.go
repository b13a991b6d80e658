package mkdirlock

import (
	"context"
	"path"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
)

// A placeClock is the clock of the lock's place, as it was once seen. A server shows it by the time of a
// directory that is made for a moment, so it is asked once for all that is listed or looked at again.
type placeClock struct {
	mu     sync.Mutex
	seen   dirs.Entry      // without a time: it was not seen yet
	at     time.Duration   // after it was seen, by this machine's clock
	silent map[string]bool // where a directory cannot be made, or none was made in time
}

// askTime is how long a look waits to be told the time: it has something to tell without it.
const askTime = 5 * time.Second

// now is what time it is in the place, at least. A directory in is asked once.
func (c *placeClock) now(ctx context.Context, in string, ask func(context.Context) (dirs.Entry, error)) (now dirs.Entry, known bool) {
	if c == nil {
		c = &placeClock{}
	}
	c.mu.Lock()
	now, at, silent := c.seen, c.at, c.silent[in]
	c.mu.Unlock()
	if now.Modified.IsZero() && !silent {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		now, _ = ask(ctx) // without the mutex: the server may hang
		at = clock.Boot{}.Now()
		c.told(in, now, at)
	}
	if now.Modified.IsZero() {
		return now, false
	}
	now.Modified = now.Modified.Add(clock.Boot{}.Now() - at)
	return now, true
}

// told notes the answer that came from a directory.
func (c *placeClock) told(in string, now dirs.Entry, at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !now.Modified.IsZero():
		c.seen, c.at = now, at
	case c.silent == nil:
		c.silent = map[string]bool{in: true}
	default:
		c.silent[in] = true
	}
}

// placeTime is what time it is in the lock's place by its own clock, at least; not known where this user may
// not make a directory beside the lock.
func (l *Lock) placeTime(ctx context.Context, dir dirs.StatDir) (now dirs.Entry, known bool) {
	if d, ok := dir.(dirs.Clocked); ok && d.HasOurClock() {
		return dirs.Entry{Modified: l.Today(), Precise: true}, true
	}
	in, probe := path.Dir(l.Name), labels.ProbePrefix+l.NewID()
	if l.Style == DirStyle {
		in, probe = l.Name, labels.ReservationPrefix+l.probe().String()
	}
	return l.clock.now(ctx, in, func(ctx context.Context) (dirs.Entry, error) {
		_, seen, err := dirs.ListWithNow(ctx, dir, in, probe, l.fail)
		return seen, err
	})
}

// holder describes for people who has an entry in the lock. If nothing proves that it lives or is dead, the
// age of its last heartbeat is told, by the clock of the lock's place.
func (i *inspection) holder(ctx context.Context, s observation) backend.Holder {
	today := i.lock.Today()
	dir, ok := i.dir.(dirs.StatDir)
	if !ok || s.Verdict == owner.Alive || s.Verdict == owner.Dead {
		return s.Holder(today)
	}
	it := entryAt(ctx, dir, s.Of.String())
	if it.Modified.IsZero() {
		return s.Holder(today)
	}
	now, known := i.lock.placeTime(ctx, dir)
	if !known {
		return s.Holder(today)
	}
	s.Beat = now.Modified.Add(-dirs.Age(it, now.Modified))
	return s.HolderThere(today, now.Modified)
}
