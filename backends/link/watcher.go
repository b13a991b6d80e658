//go:build unix

package link

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// A watcher looks at other people's files, and watches them.
type watcher struct {
	watch.Others[file]
	lock    *Lock
	fs      FS
	request backend.Request
}

func (l *Lock) newWatcher(fs FS, r backend.Request) watcher {
	w := watcher{lock: l, fs: fs, request: r}
	w.Others = watch.NewOthers(r, w.seeRules)
	return w
}

// A file is what a look shows of a file.
type file struct {
	name    string
	stat    lockfile.Stat
	content content
	// unreadable: nobody can know from here whose it is.
	unreadable bool
	// now is a time of the server's clock from before the look, if there is one. young is for
	// how long the file is not yet older than its lease, by that time.
	now   time.Time
	young time.Duration
}

func (f file) String() string { return f.name }

type observation = watch.Observed[file]

// id names the acquisition that the file stands for.
func (f file) id() string {
	if f.content.Record != nil {
		return f.content.Record.ID
	}
	return foreignID(f.stat)
}

// sign changes with the file and with each sign of life.
func (f file) sign() string {
	return fmt.Sprint(f.stat.Dev, f.stat.Ino, f.stat.Size, f.stat.Modified.UnixNano(), f.stat.Kind, f.content.Text)
}

// see looks at a file without judging it. errAbsent means that it is not there.
func (w watcher) see(name string) (observation, error) {
	s := observation{Observation: watch.Observation{Due: watch.Never}, Of: file{name: name}}
	err := w.read(&s.Of)
	if err == nil {
		s.Seen = w.seen(s.Of)
	}
	return s, err
}

// read fills in what there is in the place of a file.
func (w watcher) read(f *file) error {
	st, text, err := w.fs.Read(f.name)
	if readErr := err; backend.IsErrno(err, unix.ELOOP, unix.ENXIO, unix.EACCES, unix.EPERM, unix.EMLINK) {
		f.content.note, f.unreadable = "it cannot be read: "+readErr.Error(), true
		st, err = w.fs.Stat(f.name)
	} else if err == nil {
		f.content = parse(text)
	}
	switch {
	case absent(err):
		return errAbsent
	case err != nil:
		return w.lock.fail("look at "+backend.Quoted(f.name), err)
	case st.Kind != "":
		f.content = content{note: "it is " + st.Kind + ", and stays until somebody removes it"}
	case f.content.Record != nil:
		f.content.Record.Keeper = st.User
	}
	f.stat = st
	return nil
}

// seen is what a file tells.
func (w watcher) seen(f file) watch.Seen {
	seen := watch.Seen{Record: f.content.Record, Note: f.content.note, PID: f.content.PID, Since: f.stat.Modified}
	if f.stat.Kind == "" {
		//rule:sign
		seen.ID, seen.Sign = f.id(), f.sign()
	}
	seen.Verdict = w.lock.verdict(f.content)
	if r := f.content.Record; r != nil {
		seen.Lease, seen.Since, seen.Beat = r.Lease, r.Acquired, f.stat.Modified
		// A breaker has no heartbeats, and other tools set times as they like.
		seen.Lasting = f.name == w.lock.Name && watch.IsFine(f.stat.Modified)
		if f.name != w.lock.Name {
			seen.Verdict = w.lock.Judge(alone(*r))
		}
	} else if f.stat.Kind == "" {
		// Other tools set the time of their file as a sign of life, and we believe them for as long as we
		// ask to be.
		seen.Lease, seen.Beat = w.request.Owner.Lease, f.stat.Modified
	}
	return seen
}

// alone is the record of a claim or a queue entry, for judging: only the helper has anything to
// do with it.
func alone(r owner.Record) owner.Record {
	r.Parent, r.NoProof, r.Lifeline = process.Process{}, false, ""
	return r
}

// verdict judges a holder by the record, or by the pid of another tool.
func (l *Lock) verdict(c content) owner.Verdict {
	v := c.Verdict(l.Judge)
	if c.Record == nil && !l.OneMachine && !(c.Host != "" && v == owner.Dead) {
		return owner.Unknown // on which machine is the pid?
	}
	return v
}

// toWatch returns the process whose end would change the verdict, or none.
func (l *Lock) toWatch(c content) process.Process {
	if p, lives := c.Process(); lives && l.OneMachine {
		return p
	}
	return l.ProcessToWatch(c.Record)
}

// look looks at a file, and judges when it may be removed. now is a time of the server's clock
// from before.
func (w watcher) look(name string, now time.Time) (s observation, err error) {
	s, err = w.Look(context.Background(), file{name: name, now: now})
	if err == nil && s.Of.young < watch.Never {
		s.Due = min(s.Due, s.Of.young+time.Millisecond) // then look again
	}
	return s, err
}

// seeRules looks at a file, and adds the grounds on which it may be removed.
func (w watcher) seeRules(_ context.Context, x *watch.Watcher, f *file, _ watch.Seen) (seen watch.Seen, err error) {
	if err = w.read(f); err == nil {
		seen = w.seen(*f)
		seen.Rules, f.young = w.rules(x, *f, seen.Verdict)
	}
	return seen, err
}

// rules are the grounds on which a file may be removed: a lease without a sign of life, and the
// file's age. young is for how long the file is not yet old.
func (w watcher) rules(x *watch.Watcher, f file, v owner.Verdict) (rules []watch.Rule, young time.Duration) {
	switch {
	case f.stat.Kind != "":
		return nil, watch.Never
	case f.name != w.lock.Name && v == owner.Alive:
		// A breaker that is about to remove a lock will do so, however long it was stopped.
		return nil, watch.Never
	case f.content.PID != 0 && f.content.Host == "" && w.lock.OneMachine:
		return []watch.Rule{x.Rule(v, 0)}, watch.Never // its pid decides
	}
	rules = []watch.Rule{x.Rule(v, w.lease(f.content))}
	if young = w.youngFor(f); young >= 0 {
		return rules, young
	}
	// A holder that is old does not count as dead at once: it is watched.
	return append(rules, watch.Rule{Dead: true, Grace: graceByAge(w.request.Grace, f.content)}), watch.Never
}

// youngFor is in how long a file is older than its lease; less than 0: it is already. It goes by
// the file's own time, which is compared only with its server's clock.
func (w watcher) youngFor(f file) time.Duration {
	if w.request.Strict || f.now.IsZero() {
		return watch.Never
	}
	// A time that is centuries ahead must not overflow.
	return w.lease(f.content) - max(f.now.Sub(f.stat.Modified), -owner.MaxLease)
}

// lease is how long the owner of a file is believed: as long as it asked for, or else as long as
// we would ask.
func (w watcher) lease(c content) time.Duration {
	switch {
	case c.Record != nil:
		return c.Record.Lease
	case w.request.Owner.Lease > 0:
		return w.request.Owner.Lease
	}
	return UsualLease
}

// minWatch is the least time to watch an old file. A living holder refreshes it several times
// meanwhile.
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
