package local

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/manners"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

const (
	// maxRaces bounds how often one Try starts anew because the file changed
	// under it; each time somebody else made progress.
	maxRaces = 32
	// grace is how long an unfinished file of ours must be seen unchanged. It is a
	// courtesy to its maker, who needs some microseconds until it has the kernel lock,
	// and if it is late finds out before it says OK (hold.go). Everybody waits for it
	// when a maker dies just there.
	grace = 100 * time.Millisecond
)

type attempt struct {
	lock     *Lock
	request  backend.Request
	here     owner.Place
	patience owner.Patience // with holders
	courtesy owner.Patience // with files their makers have not finished
	checked  bool           // the directory is fit
	seen     sighting       // what the last failed Try saw
	watcher  watcher
	pauses   *manners.Pauses // nil: slowLook
}

// A sighting is a lock file that belongs to somebody else.
type sighting struct {
	content content
	locked  bool          // its kernel lock could not be had
	keeper  keeper        // who keeps it, found before the verdict fell
	due     time.Duration // when it may be broken if nothing changes, or owner.Never
}

// Try implements backend.Attempt. The first one looks at the directory: not before,
// because a place that hangs answers late or never.
func (a *attempt) Try(context.Context) (backend.Hold, error) {
	if !a.checked {
		if err := a.lock.checkDirectory(); err != nil {
			return nil, err
		}
		a.checked = true
	}
	for range maxRaces {
		var h backend.Hold
		err := backend.AwaitSpace(func() (err error) {
			h, err = a.create()
			return err
		})
		if h != nil {
			a.watcher.Close()
			return h, nil
		}
		if err == nil {
			h, err = a.examine()
		}
		if h != nil || err != nil {
			return h, err
		}
	}
	return nil, a.held()
}

// create makes the lock file. Neither a hold nor an error means that it exists
// already, or ceased to be ours before we had it.
func (a *attempt) create() (backend.Hold, error) {
	if a.lock.kept {
		return nil, a.lock.makeKept()
	}
	id, text, err := a.record()
	if err != nil {
		return nil, err
	}
	f, err := create(a.lock.path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil
	case err != nil:
		return nil, backend.FileError(a.lock.address, "create lock file", err)
	}
	return a.fill(f, id, text)
}

// makeKept makes the file that is to stay, for whoever takes it.
func (l *Lock) makeKept() error {
	f, err := createKept(l.path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return backend.FileError(l.address, "create lock file", err)
	}
	f.close()
	return nil
}

// take takes a file that is kept.
func (a *attempt) take(f *file) (backend.Hold, error) {
	id, text, err := a.record()
	if err != nil {
		f.close()
		return nil, err
	}
	return a.fill(f, id, text)
}

// record says who we are, in a text for a lock file.
func (a *attempt) record() (id, text string, err error) {
	r := a.request.Owner
	r.ID, r.Acquired = owner.NewID(), time.Now()
	text, err = format(r)
	if err != nil {
		err = &backend.Error{Code: protocol.Usage, Lock: a.lock.address, Op: "write owner record",
			Err: err, Hint: "shorten the metadata"}
	}
	return r.ID, text, err
}

// fill writes that into a file that is ours.
func (a *attempt) fill(f *file, id, text string) (backend.Hold, error) {
	err := finish(f, text)
	switch {
	case errors.Is(err, errNotOurs):
		return nil, nil
	case err != nil:
		return nil, backend.FileError(a.lock.address, "write lock file", err)
	}
	return &hold{lock: a.lock, file: f, id: id}, nil
}

// examine looks at the existing lock file and removes it if its holder is dead, or
// takes the one that is kept. Neither a hold nor an error means that it is gone: try
// again.
func (a *attempt) examine() (backend.Hold, error) {
	f, err := a.lock.open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrPermission) && !a.lock.kept:
		a.patience.Forget()
		a.seen = sighting{content: content{note: "the lock file is not readable"}, due: owner.Never}
		return nil, a.held()
	case err != nil:
		a.patience.Forget()
		return nil, a.lock.openError(err)
	}
	if err := a.look(f); err != nil {
		f.close()
		a.patience.Forget()
		return nil, backend.FileError(a.lock.address, "look at lock file", err)
	}
	switch {
	case a.seen.due > 0:
		f.close()
		return nil, a.held()
	case a.lock.kept:
		return a.take(f)
	}
	return nil, a.remove(f)
}

// remove removes the file of a dead holder, whose kernel lock is ours (see look).
func (a *attempt) remove(f *file) error {
	err := f.remove()
	if err == nil || errors.Is(err, errNotOurs) {
		return nil
	}
	f.close()
	if errors.Is(err, syscall.EPERM) {
		a.patience.Forget()
		a.seen.due, a.seen.content.note = owner.Never, backend.StickyNote
		return a.held()
	}
	return backend.FileError(a.lock.address, "remove the lock file of a dead holder", err)
}

// look fills in a.seen. When it sets due to 0 it has taken the kernel lock.
func (a *attempt) look(f *file) error {
	before := a.request.Clock.Now()
	if justMade, err := a.justMade(before, f); justMade || err != nil {
		return err
	}
	free, err := f.tryLock()
	if err == nil && !free && f.kept { // who inspects it lets go at once
		free, err = f.lockAgainstBreakers()
	}
	if err != nil {
		return err
	}
	// Only after the kernel lock has told that the maker is done writing.
	c, err := f.read()
	if err != nil {
		return err
	}
	a.seen = sighting{content: c, locked: !free, keeper: c.keeper(a.here), due: owner.Never}
	if !free {
		a.patience.Forget()
		return nil
	}
	a.seen.due = a.judge(before, c)
	return nil
}

// justMade reports a file of ours in which nothing is written yet. Until its time is
// over we leave the kernel lock to its maker, who would nap if it met us there.
func (a *attempt) justMade(before time.Duration, f *file) (bool, error) {
	st, err := f.stat()
	if err != nil || st.size > 0 {
		return false, err
	}
	c := content{stat: st}
	if c.parse(""); !c.unfinished() {
		return false, nil
	}
	a.seen = sighting{content: c, due: a.judge(before, c)}
	return a.seen.due > 0, nil
}

func (a *attempt) judge(before time.Duration, c content) time.Duration {
	sign := c.sign()
	switch {
	case a.lock.kept && c.text == "":
		return 0 // who holds it has the kernel lock
	case c.unfinished():
		// Not a matter of leases: its maker has not said OK and never will
		// without finding the file still there.
		return a.courtesy.Look(before, sign, false, grace)
	case c.record == nil:
		return a.patience.Look(before, sign, c.verdict(a.here) == owner.Dead, 0)
	}
	return a.patience.Look(before, sign+c.record.ID, c.verdict(a.here) == owner.Dead, c.record.Lease)
}

func (a *attempt) held() error {
	return &backend.HeldError{Lock: a.lock.address, Holder: a.lock.holder(a.seen.content, a.seen.verdict(a.here))}
}

func (s *sighting) verdict(here owner.Place) owner.Verdict {
	if s.keeper.isHelper { // that was just seen
		return owner.Alive
	}
	return s.content.verdict(here)
}

// Withdraw implements backend.Attempt: a waiter leaves no trace.
func (a *attempt) Withdraw(context.Context) error {
	a.watcher.Close()
	return nil
}
