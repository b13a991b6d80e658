package local

import (
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// grace is how long an unfinished file of ours must be seen unchanged before it is broken. It is
// a courtesy to the maker, which needs some microseconds until it has the kernel lock. A maker
// that is late finds out before it says OK (hold.go). If a maker dies at that point, everybody
// waits for the grace, a single try included.
const grace = 100 * time.Millisecond

// An observation is a lock file that belongs to somebody else.
type observation struct {
	content content
	locked  bool           // somebody else had its kernel lock
	watched watchedProcess // the process whose end matters; found before the verdict fell
	due     time.Duration  // how long until it may be broken if nothing changes, or watch.Never
}

// verdict judges the holder that the last Try saw.
func (a *attempt) verdict() owner.Verdict {
	if a.seen.watched.isHelper { // it was just seen to live
		return owner.Alive
	}
	return a.seen.content.judged(a.env.Judge)
}

// look fills in a.seen. If it sets due to 0, it has taken the kernel lock.
//
// The maker of a file needs its kernel lock, and would have to sleep if it found the lock taken.
// So look leaves the lock of a file of ours in which nothing is written yet to its maker, until
// the grace is over.
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

// justMade reports whether this is a file of ours in which nothing is written yet.
func justMade(f File) (content, bool, error) {
	st, err := f.Stat()
	if err != nil || st.Size > 0 {
		return content{}, false, err
	}
	c := parse("", false)
	c.stat = st
	return c, c.unfinished(), nil
}

// lockAndRead takes the kernel lock if it is free, and only then reads the file: the maker has
// finished writing by then.
func (a *attempt) lockAndRead(f File) (observation, error) {
	//rule:kernel
	free, err := f.TryLock()
	if err != nil {
		return observation{}, err
	}
	c, err := a.lock.read(f)
	return observation{content: c, locked: !free, watched: a.toWatch(c)}, err
}

// judge fills in a.seen with what see returns, and when that may be broken.
func (a *attempt) judge(see func() (observation, error)) error {
	var seen observation
	judged, err := a.others.Look(a.lock.path, func(watch.Seen) (s watch.Seen, err error) {
		//rule:kernel
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

// rule is the ground on which a file with a free kernel lock may be broken, and the sign of life
// that delays it.
func (a *attempt) rule(c content) (sign string, rules []watch.Rule) {
	var r watch.Rule
	sign = c.sign()
	switch {
	case c.unfinished():
		// No lease counts here: the maker has not said OK, and never will unless it finds its
		// file still there.
		sign += " unfinished"
		r.Lease = grace
	case c.strange():
		// Its lease cannot be read, so it is believed for as long as we ask to be.
		r = a.others.Rule(owner.Unknown, a.request.Owner.Lease)
	case c.Record == nil:
		r = a.others.Rule(c.judged(a.env.Judge), 0)
	default:
		r = a.others.Rule(c.judged(a.env.Judge), c.Record.Lease)
	}
	return sign, []watch.Rule{r}
}
