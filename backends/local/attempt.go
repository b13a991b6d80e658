package local

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/manners"
	"locksmith/backends/owner"
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
	f, err := lockfile.Create(a.lock.path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil
	case err != nil:
		return nil, a.lock.fail("create lock file", err)
	}
	return a.fill(f, id, text)
}

// record says who we are, in a text for a lock file.
func (a *attempt) record() (id, text string, err error) {
	r := a.request.Owner
	r.ID, r.Acquired = owner.NewID(), time.Now()
	text, err = lockfile.Format(r)
	if err != nil {
		err = a.lock.address.Usage("write owner record", err.Error(), "shorten the metadata")
	}
	return r.ID, text, err
}

// fill writes that into a file that is ours.
func (a *attempt) fill(f *lockfile.File, id, text string) (backend.Hold, error) {
	err := a.lock.finish(f, text)
	switch {
	case errors.Is(err, lockfile.ErrReplaced):
		return nil, nil
	case err != nil:
		return nil, a.lock.fail("write lock file", err)
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
		_ = f.Close()
		a.patience.Forget()
		return nil, a.lock.fail("look at lock file", err)
	}
	switch {
	case a.seen.due > 0:
		_ = f.Close()
		return nil, a.held()
	case a.lock.kept:
		return a.takeKept(f)
	}
	return nil, a.remove(f)
}

// remove removes the file of a dead holder, whose kernel lock is ours (see look).
func (a *attempt) remove(f *lockfile.File) error {
	err := a.lock.remove(f)
	if err == nil || errors.Is(err, lockfile.ErrReplaced) {
		return nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EPERM) {
		a.patience.Forget()
		a.seen.due, a.seen.content.note = owner.Never, backend.StickyNote
		return a.held()
	}
	return a.lock.fail("remove the lock file of a dead holder", err)
}

// look fills in a.seen. When it sets due to 0 it has taken the kernel lock.
func (a *attempt) look(f *lockfile.File) error {
	before := a.request.Clock.Now()
	if justMade, err := a.justMade(before, f); justMade || err != nil {
		return err
	}
	free, err := f.TryLock()
	if err == nil && !free && a.lock.kept { // who inspects it lets go at once
		free, err = lockWithin(f, patienceOfBreakers)
	}
	if err != nil {
		return err
	}
	// Only after the kernel lock has told that the maker is done writing.
	c, err := read(f)
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
func (a *attempt) justMade(before time.Duration, f *lockfile.File) (bool, error) {
	st, err := f.Stat()
	if err != nil || st.Size > 0 {
		return false, err
	}
	c := parse("")
	if c.stat = st; !c.unfinished() {
		return false, nil
	}
	a.seen = sighting{content: c, due: a.judge(before, c)}
	return a.seen.due > 0, nil
}

func (a *attempt) judge(before time.Duration, c content) time.Duration {
	sign := c.sign()
	switch {
	case a.lock.kept && c.Text == "":
		return 0 // who holds it has the kernel lock
	case c.unfinished():
		// Not a matter of leases: its maker has not said OK and never will
		// without finding the file still there.
		return a.courtesy.Look(before, sign, false, grace)
	case c.Record == nil:
		return a.patience.Look(before, sign, c.verdict(a.here) == owner.Dead, 0)
	}
	return a.patience.Look(before, sign+c.Record.ID, c.verdict(a.here) == owner.Dead, c.Record.Lease)
}

func (a *attempt) held() error {
	return &backend.HeldError{Lock: string(a.lock.address), Holder: a.lock.holder(a.seen.content, a.seen.verdict(a.here))}
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
