package local

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

type attempt struct {
	lock    *Lock
	request backend.Request
	env     owner.Env
	system  System
	others  *watch.Watcher
	checked bool              // the directory was found fit
	seen    observation       // what the last failed Try saw
	pauses  *backoff.Schedule // nil: slowLook

	bell   chan struct{} // rings when it is our turn in the lock's queue
	batons batons
	nap    time.Duration // how long the last sleep was that may have missed a release
}

// Try implements backend.Attempt. The first Try checks the directory. Attempt does not, because a
// place that hangs would answer late or never.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if !a.checked {
		if err := a.lock.checkDirectory(); err != nil {
			return nil, err
		}
		a.checked = true
	}
	h, err := a.takeNow(ctx)
	//rule:unfinished
	for looks := 0; looks < looksAtUnfinished && a.expires(err) && a.Wait(ctx) == nil; looks++ {
		h, err = a.takeNow(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.system.Close()
	//rule:keep
	h.batons = a.leaveQueue()
	return h, nil
}

// looksAtUnfinished is how often a Try waits until an unfinished file may be broken. A Try may be
// the only one, as with "run -n", and there would be no other that removes the file. Once is
// enough, unless something else that happens to the file wakes it.
const looksAtUnfinished = 3

// expires reports whether a refusal is for an unfinished file, which may be broken after the grace.
func (a *attempt) expires(refusal error) bool {
	_, held := errors.AsType[*backend.HeldError](refusal)
	return held && a.seen.content.unfinished() && a.seen.due != watch.Never
}

// takeNow tries without ctx: a free lock is taken even if hardly any time is left, for no step
// here waits long.
func (a *attempt) takeNow(ctx context.Context) (*hold, error) {
	h, err := backend.Retry(context.WithoutCancel(ctx), backend.KernelRaces, a.take)
	if errors.Is(err, backend.ErrAgain) {
		err = a.held()
	}
	return h, err
}

// take makes the lock file, or finds out who holds it. Its error is backend.ErrAgain if the file
// changed meanwhile.
func (a *attempt) take() (h *hold, err error) {
	err = backend.AwaitSpace(func() (err error) {
		h, err = a.create()
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return a.examine()
	}
	return h, err
}

// create makes the lock file. Its error is fs.ErrExist if there is a file already.
func (a *attempt) create() (*hold, error) {
	r, text, err := backend.Signed(a.lock.address, a.env, a.request.Owner, a.lock.format)
	if err != nil {
		return nil, err
	}
	f, err := a.system.Create()
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fs.ErrExist
	case err != nil:
		return nil, a.lock.fail("create lock file", err)
	}
	return a.fill(f, r.ID, text)
}

// fill writes our record into a file that is ours.
func (a *attempt) fill(f File, id, text string) (*hold, error) {
	err := a.lock.finish(f, text)
	switch {
	case errors.Is(err, lockfile.ErrReplaced):
		return nil, backend.ErrAgain
	case err != nil:
		return nil, a.lock.fail("write lock file", err)
	}
	return &hold{lock: a.lock, file: f, id: id}, nil
}

// examine looks at the existing lock file. If its holder is dead, examine removes the file. Its
// error is backend.ErrAgain if the file is gone.
func (a *attempt) examine() (*hold, error) {
	f, err := a.openLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, backend.ErrAgain
	case errors.Is(err, fs.ErrPermission):
		a.others.Forget(a.lock.path)
		a.seen = observation{content: content{note: "the lock file is not readable"}, due: watch.Never}
		return nil, a.held()
	case err != nil:
		a.others.Forget(a.lock.path)
		return nil, a.lock.openError(err)
	}
	if err := a.look(f); err != nil {
		_ = f.Close()
		return nil, a.lock.fail("look at lock file", err)
	}
	if a.seen.content.Binary && !a.lock.binary {
		_ = f.Close()
		return nil, a.lock.address.Unfit("look at lock file", lockfile.NoBinary, binaryHint(a.lock.path))
	}
	if a.seen.due > 0 {
		_ = f.Close()
		return nil, a.held()
	}
	return nil, a.breakDead(f)
}

// breakDead removes the file of a dead holder. We have its kernel lock (see look).
func (a *attempt) breakDead(f File) error {
	err := a.lock.remove(f)
	if err == nil {
		a.tellBroken()
	}
	if err == nil || errors.Is(err, lockfile.ErrReplaced) {
		return backend.ErrAgain
	}
	_ = f.Close()
	if errors.Is(err, syscall.EPERM) {
		a.others.Forget(a.lock.path)
		a.seen.due, a.seen.content.note = watch.Never, backend.StickyNote
		return a.held()
	}
	return a.lock.fail("remove the lock file of a dead holder", err)
}

// tellBroken tells of a dead holder whose lock is gone, if anything is known of that holder.
func (a *attempt) tellBroken() {
	if c := a.seen.content; c.Record != nil || c.PID != 0 {
		a.request.TellBroken(string(a.lock.address), a.lock.holder(c, a.verdict(), a.isLocked))
	}
}

func (a *attempt) held() error {
	if c := a.seen.content; c.Record == nil && c.PID == 0 && c.stat.Ino != 0 && !c.stat.Marked {
		a.request.MeetForeign()
	}
	return &backend.HeldError{Lock: string(a.lock.address), Holder: a.lock.holder(a.seen.content, a.verdict(), a.isLocked)}
}

// isLocked reports whether somebody had the kernel lock at the last look. If that look could not
// open the file, isLocked asks now.
func (a *attempt) isLocked() bool {
	if a.seen.content.stat.Ino == 0 {
		return a.lock.isLocked()
	}
	return a.seen.locked
}

// Withdraw implements backend.Attempt. A waiter leaves no trace.
func (a *attempt) Withdraw(context.Context) error {
	a.system.Close()
	a.leaveQueue().pass()
	return nil
}
