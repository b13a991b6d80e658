package local

import (
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// grace is how long an unfinished file of ours must be seen unchanged. It is a
// courtesy to its maker, which needs some microseconds until it has the kernel lock; a
// maker that is late finds out before it says OK (hold.go). Everybody waits that long
// when a maker dies at that point.
const grace = 100 * time.Millisecond

// An observation is a lock file that belongs to somebody else.
type observation struct {
	content content
	locked  bool           // its kernel lock could not be had
	watched watchedProcess // whose end matters, found before the verdict fell
	due     time.Duration  // when it may be broken if nothing changes, or watch.Never
}

// verdict judges the holder that the last Try saw.
func (a *attempt) verdict() owner.Verdict {
	if a.seen.watched.isHelper { // that was just seen
		return owner.Alive
	}
	return a.seen.content.judged(a.env.Judge)
}

// look fills in a.seen. When it sets due to 0 it has taken the kernel lock.
//
// The kernel lock of a file of ours in which nothing is written yet is left to its maker,
// until the grace is over: a maker that found it taken would have to sleep.
func (a *attempt) look(f File) error {
	locked := false
	err := a.judge(func() (observation, error) {
		c, justMade, err := justMade(f)
		if justMade || err != nil {
			return observation{content: c}, err
		}
		locked = true
		return a.lockAndRead(f)
	})
	if err == nil && !locked && a.seen.due == 0 {
		err = a.judge(func() (observation, error) { return a.lockAndRead(f) })
	}
	return err
}

// justMade reports a file of ours in which nothing is written yet.
func justMade(f File) (content, bool, error) {
	st, err := f.Stat()
	if err != nil || st.Size > 0 {
		return content{}, false, err
	}
	c := parse("")
	c.stat = st
	return c, c.unfinished(), nil
}

// lockAndRead takes the kernel lock if it is free, and only then reads the file, because
// then its maker is done writing.
func (a *attempt) lockAndRead(f File) (observation, error) {
	free, err := f.TryLock()
	if err == nil && !free && a.lock.kept { // who inspects it lets go at once
		free, err = f.LockWithin(breakerTimeout)
	}
	if err != nil {
		return observation{}, err
	}
	c, err := read(f)
	return observation{content: c, locked: !free, watched: a.toWatch(c)}, err
}

// judge fills in a.seen: what see returns, and when that may be broken.
func (a *attempt) judge(see func() (observation, error)) error {
	var seen observation
	judged, err := a.others.Look(a.lock.path, func(watch.Seen) (s watch.Seen, err error) {
		if seen, err = see(); err == nil && !seen.locked {
			s = seen.content.seen(seen.content.judged(a.env.Judge))
			s.Sign, s.Rules = a.rule(seen.content)
		}
		return s, err
	})
	if err != nil {
		return err
	}
	a.seen, a.seen.due = seen, judged.Due
	return nil
}

// rule is the ground on which a file may be broken whose kernel lock is free, and the
// sign of life for it.
func (a *attempt) rule(c content) (sign string, rules []watch.Rule) {
	var r watch.Rule
	sign = c.sign()
	switch {
	case a.lock.kept && c.Text == "":
		r.Dead = true // who holds it has the kernel lock
	case c.unfinished():
		// Not a matter of leases: its maker has not said OK and never will
		// without finding the file still there.
		sign += " unfinished"
		r.Lease = grace
	case c.Record == nil:
		r = a.others.Rule(c.judged(a.env.Judge), 0)
	default:
		r = a.others.Rule(c.judged(a.env.Judge), c.Record.Lease)
	}
	return sign, []watch.Rule{r}
}
