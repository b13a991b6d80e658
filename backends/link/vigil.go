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
)

// A vigil watches other people's files and decides when one may be removed. It
// remembers what it saw of each.
type vigil struct {
	lock    *Lock
	fs      FS
	request backend.Request
	watched map[string]*watch // by name
}

// A watch is what is remembered of a file: with what patience its lease is counted
// on our own clock, and that of one which is old by the server's.
type watch struct{ lease, age owner.Patience }

func (l *Lock) newVigil(fs FS, r backend.Request) *vigil {
	return &vigil{lock: l, fs: fs, request: r, watched: map[string]*watch{}}
}

// A sighting is a file as just seen.
type sighting struct {
	name    string
	stat    lockfile.Stat
	content content
	verdict owner.Verdict
	// due is how long the same must still be seen before it may be removed: 0 is
	// now, owner.Never is until something else happens.
	due time.Duration
	// unreadable: nobody knows from here whose it is.
	unreadable bool
}

// id names the acquisition that the file stands for.
func (s sighting) id() string {
	if s.content.Record != nil {
		return s.content.Record.ID
	}
	return foreignID(s.stat)
}

// sign changes with the file and with each sign of life.
func (s sighting) sign() string {
	return fmt.Sprint(s.stat.Dev, s.stat.Ino, s.stat.Size, s.stat.Modified.UnixNano(), s.stat.Kind, s.content.Text)
}

// see looks at a file without judging it. errAbsent: it is not there.
func (v *vigil) see(name string) (sighting, error) {
	s := sighting{name: name, verdict: owner.Unknown, due: owner.Never}
	st, text, err := v.fs.Read(name)
	if readErr := err; backend.IsErrno(err, unix.ELOOP, unix.ENXIO, unix.EACCES, unix.EPERM, unix.EMLINK) {
		s.content.note, s.unreadable = "it cannot be read: "+readErr.Error(), true
		st, err = v.fs.Stat(name)
	} else if err == nil {
		s.content = parse(text)
	}
	switch {
	case absent(err):
		return s, errAbsent
	case err != nil:
		return s, v.lock.fail("look at "+backend.Quoted(name), err)
	case st.Kind != "":
		s.content = content{note: "it is " + st.Kind + ", and stays until somebody removes it"}
	}
	s.stat = st
	if r := s.content.Record; r != nil && name != v.lock.Name {
		s.verdict = v.lock.Judge(alone(*r))
	} else {
		s.verdict = v.lock.verdict(s.content)
	}
	return s, nil
}

// alone is the record of a claim or a chain entry, for judging: nobody but the helper
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

// keeper returns the process whose end would change the verdict, or none.
func (l *Lock) keeper(c content) process.Process {
	switch {
	case c.Record != nil && l.Keeper != nil:
		p, _ := l.Keeper(*c.Record)
		return p
	case c.PID != 0 && l.OneMachine && !(process.Process{PID: c.PID}).Gone():
		return process.Process{PID: c.PID}
	}
	return process.Process{}
}

// look sees a file and judges when it may be removed. now is a time of the server's
// clock from before.
func (v *vigil) look(name string, now time.Time) (sighting, error) {
	before := v.request.Clock.Now()
	s, err := v.see(name)
	w := v.of(name)
	if err != nil {
		w.lease.Forget()
		w.age.Forget()
		return s, err
	}
	dead := s.verdict == owner.Dead
	switch {
	case s.stat.Kind != "":
	case name != v.lock.Name && s.verdict == owner.Alive:
		// Who is about to remove a lock will do it, however long he was stopped.
	case s.content.PID != 0 && v.lock.OneMachine:
		s.due = w.lease.Look(before, s.sign(), dead, 0) // its pid decides
	default:
		s.due = w.lease.Look(before, s.sign(), dead, v.lease(s.content))
		s.due = min(s.due, v.dueByAge(w, before, now, s))
	}
	return s, nil
}

// dueByAge counts from the file's own time, which is compared with no other clock
// than its server's. Who is old by it is not trusted to be dead: he is watched.
func (v *vigil) dueByAge(w *watch, before time.Duration, now time.Time, s sighting) time.Duration {
	if v.request.Strict || now.IsZero() {
		return owner.Never
	}
	// A time that is centuries ahead must not overflow.
	left := v.lease(s.content) - max(now.Sub(s.stat.Modified), -owner.MaxLease)
	if left >= 0 {
		w.age.Forget()
		return left + time.Millisecond // then look again
	}
	w.age.Respite = respiteByAge(v.request.Respite, s.content)
	return w.age.Look(before, s.sign(), true, 0)
}

// lease is how long the owner of a file is believed: as long as he asked for, or
// else as long as we would ask.
func (v *vigil) lease(c content) time.Duration {
	switch {
	case c.Record != nil:
		return c.Record.Lease
	case v.request.Owner.Lease > 0:
		return v.request.Owner.Lease
	}
	return usualLease
}

func (v *vigil) of(name string) *watch {
	w := v.watched[name]
	if w == nil {
		r := v.request
		w = &watch{
			lease: owner.Patience{Clock: r.Clock, Strict: r.Strict, Respite: r.Respite},
			age:   owner.Patience{Clock: r.Clock},
		}
		v.watched[name] = w
	}
	return w
}

// forgetBut forgets all but one, when the others belong to what is over.
func (v *vigil) forgetBut(name string) {
	for other := range v.watched {
		if other != name {
			delete(v.watched, other)
		}
	}
}

// holder describes a sighting for people.
func (s sighting) holder(today time.Time) backend.Holder {
	h := backend.Holder{Record: s.content.Record, Note: s.content.note, Verdict: s.verdict, PID: s.content.PID}
	if s.stat.Modified.IsZero() {
		return h // never seen
	}
	h.Age = max(today.Sub(s.stat.Modified), 0)
	if s.stat.Kind == "" {
		h.ID, h.Sign = s.id(), s.sign()
	}
	if r := s.content.Record; r != nil {
		h.PID, h.Lease = r.Helper.PID, r.Lease
		h.Age, h.Heartbeat = max(today.Sub(r.Acquired), 0), h.Age
	}
	return h
}
