//go:build unix

package link

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// A watcher watches other people's files.
type watcher struct {
	*watch.Watcher
	lock    *Lock
	fs      FS
	request backend.Request
}

func (l *Lock) newWatcher(fs FS, r backend.Request) watcher { return watcher{watch.New(r), l, fs, r} }

// An observation is a file as just seen.
type observation struct {
	watch.Observation
	name    string
	stat    lockfile.Stat
	content content
	// unreadable: nobody knows from here whose it is.
	unreadable bool
}

// id names the acquisition that the file stands for.
func (s observation) id() string {
	if s.content.Record != nil {
		return s.content.Record.ID
	}
	return foreignID(s.stat)
}

// sign changes with the file and with each sign of life.
func (s observation) sign() string {
	return fmt.Sprint(s.stat.Dev, s.stat.Ino, s.stat.Size, s.stat.Modified.UnixNano(), s.stat.Kind, s.content.Text)
}

// see looks at a file without judging it. errAbsent: it is not there.
func (w watcher) see(name string) (observation, error) {
	s := observation{Observation: watch.Observation{Due: watch.Never}, name: name}
	st, text, err := w.fs.Read(name)
	if readErr := err; backend.IsErrno(err, unix.ELOOP, unix.ENXIO, unix.EACCES, unix.EPERM, unix.EMLINK) {
		s.content.note, s.unreadable = "it cannot be read: "+readErr.Error(), true
		st, err = w.fs.Stat(name)
	} else if err == nil {
		s.content = parse(text)
	}
	switch {
	case absent(err):
		return s, errAbsent
	case err != nil:
		return s, w.lock.fail("look at "+backend.Quoted(name), err)
	case st.Kind != "":
		s.content = content{note: "it is " + st.Kind + ", and stays until somebody removes it"}
	}
	s.stat = st
	s.Seen = s.seen()
	// A breaker has no heartbeats, and other tools do with times what they like.
	s.Lasting = name == w.lock.Name && s.content.Record != nil && watch.IsFine(st.Modified)
	if r := s.content.Record; r != nil && name != w.lock.Name {
		s.Verdict = w.lock.Judge(alone(*r))
	} else {
		s.Verdict = w.lock.verdict(s.content)
	}
	return s, nil
}

// seen is what the file tells, but for the verdict.
func (s observation) seen() watch.Seen {
	seen := watch.Seen{Record: s.content.Record, Note: s.content.note, PID: s.content.PID, Since: s.stat.Modified}
	if s.stat.Kind == "" {
		seen.ID, seen.Sign = s.id(), s.sign()
	}
	if r := s.content.Record; r != nil {
		seen.Lease, seen.Since, seen.Beat = r.Lease, r.Acquired, s.stat.Modified
	}
	return seen
}

// alone is the record of a claim or a queue entry, for judging: nobody but the helper
// has anything to do with it.
func alone(r owner.Record) owner.Record {
	r.Parent, r.NoProof, r.Lifeline = process.Process{}, false, ""
	return r
}

// verdict judges a holder by the record, or by the pid of another tool.
func (l *Lock) verdict(c content) owner.Verdict {
	switch {
	case c.Record != nil:
		return l.Judge(*c.Record)
	case c.PID == 0 || !l.OneMachine:
		return owner.Unknown // on which machine?
	case process.Process{PID: c.PID}.Gone():
		return owner.Dead
	}
	return owner.Alive
}

// toWatch returns the process whose end would change the verdict, or none.
func (l *Lock) toWatch(c content) process.Process {
	if p := (process.Process{PID: c.PID}); c.PID != 0 && l.OneMachine && !p.Gone() {
		return p
	}
	return l.ProcessToWatch(c.Record)
}

// look sees a file and judges when it may be removed. now is a time of the server's
// clock from before.
func (w watcher) look(name string, now time.Time) (s observation, err error) {
	young := watch.Never
	judged, err := w.Look(name, func(watch.Seen) (watch.Seen, error) {
		if s, err = w.see(name); err == nil {
			s.Rules, young = w.rules(s, now)
		}
		return s.Seen, err
	})
	s.Observation = judged
	if err == nil && young < watch.Never {
		s.Due = min(s.Due, young+time.Millisecond) // then look again
	}
	return s, err
}

// rules are the grounds on which a file may be removed: a lease without a sign of life,
// and the file's age. While it is not old, young is for how long.
func (w watcher) rules(s observation, now time.Time) (rules []watch.Rule, young time.Duration) {
	switch {
	case s.stat.Kind != "":
		return nil, watch.Never
	case s.name != w.lock.Name && s.Verdict == owner.Alive:
		// A breaker about to remove a lock will do so, however long it was stopped.
		return nil, watch.Never
	case s.content.PID != 0 && w.lock.OneMachine:
		return []watch.Rule{w.Rule(s.Verdict, 0)}, watch.Never // its pid decides
	}
	rules = []watch.Rule{w.Rule(s.Verdict, w.lease(s.content))}
	if young = w.youngFor(s, now); young >= 0 {
		return rules, young
	}
	// Who is old by it is not trusted to be dead: it is watched.
	return append(rules, watch.Rule{Dead: true, Grace: graceByAge(w.request.Grace, s.content)}), watch.Never
}

// youngFor is in how long a file is older than its lease; less than 0: it is. That is by
// the file's own time, which is compared with no other clock than its server's.
func (w watcher) youngFor(s observation, now time.Time) time.Duration {
	if w.request.Strict || now.IsZero() {
		return watch.Never
	}
	// A time that is centuries ahead must not overflow.
	return w.lease(s.content) - max(now.Sub(s.stat.Modified), -owner.MaxLease)
}

// lease is how long the owner of a file is believed: as long as it asked for, or
// else as long as we would ask.
func (w watcher) lease(c content) time.Duration {
	switch {
	case c.Record != nil:
		return c.Record.Lease
	case w.request.Owner.Lease > 0:
		return w.request.Owner.Lease
	}
	return UsualLease
}

// keepOnly forgets all but one, when the others belong to what is over.
func (w watcher) keepOnly(name string) { w.Keep(func(other string) bool { return other == name }) }

// minWatch is how long an old file must at least be watched: a holder that lives
// refreshes it several times meanwhile.
const minWatch = 4 * UsualRefresh

// graceByAge is how long to watch a file that is older than its lease.
func graceByAge(asked time.Duration, c content) time.Duration {
	if asked == 0 {
		asked = usualRespite
	}
	least := minWatch
	if r := c.Record; r != nil { // --refresh may have asked for a slower pace
		least = max(least, min(4*r.Refresh, r.Lease))
	}
	return max(asked, least)
}
