//go:build unix

package flock

import (
	"context"
	"errors"
	"syscall"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/detached"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

// An attempt has at most one descriptor of the file, in one of these states:
//
//	closed   Try opens the file and asks for the lock: it is free          -> (a hold)
//	         somebody has it                                               -> refused
//	refused  Try asks again: it is free                                    -> (a hold)
//	         the path names another file by now                            -> closed
//	         Wait for one lock: a thread begins to sleep for it            -> asleep
//	         Wait for one of several locks: it watches the file           -> refused
//	asleep   Wait ends when the kernel gives the lock, when its context
//	           ends, or when another look is due (looker)                  -> asleep
//	         Try, and the kernel has given the lock                        -> (a hold)
//	         Withdraw: the thread sleeps on, and closes what it gets       -> closed
//	any      the lock is ours, but the path names another file by now      -> closed
type state int

const (
	closed state = iota
	refused
	asleep
)

type attempt struct {
	lock    *Lock
	request backend.Request
	shared  bool
	checked bool // checkPlace found the place fit
	state   state
	file    *lockfile.File    // unless closed
	sleep   *detached.ErrCall // of the thread, if asleep
	pauses  *backoff.Schedule // how long watch waits for an event at most (Request.Polls); nil: for slowLook
	inotify inotify
	looker  looker
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if !a.checked {
		if err := a.lock.checkPlace(); err != nil {
			return nil, err
		}
		a.checked = true
	}
	// ctx does not end take: a free lock is taken even if no time is left. No step of take waits long.
	h, err := backend.Retry(context.WithoutCancel(ctx), backend.KernelRaces, a.take)
	switch {
	case err == nil:
		a.inotify.Close()
		return h, nil
	case errors.Is(err, backend.ErrAgain):
		return nil, a.refusal()
	}
	return nil, err
}

// take asks for the lock once. Its error is backend.ErrAgain if the path names another file, or
// our thread just got the lock.
func (a *attempt) take() (*hold, error) {
	got, err := a.ask()
	if err == nil && (got || a.state == refused) {
		if err = a.file.Named(); errors.Is(err, lockfile.ErrReplaced) {
			a.close()
			return nil, backend.ErrAgain
		}
	}
	switch {
	case err != nil:
		a.close()
		return nil, a.lock.fail("lock the file", err)
	case !got:
		refusal := a.refusal()
		if a.state == asleep && a.file.IsLocked() { // our thread got the lock meanwhile, so refusal may name this process
			<-a.sleep.Done()
			return nil, backend.ErrAgain
		}
		return nil, refusal
	}
	h := newHold(a.lock, a.request, a.file)
	a.state, a.file = closed, nil
	return h, nil
}

// ask reports whether the kernel's lock is ours. It tries, unless a thread sleeps for it.
func (a *attempt) ask() (got bool, err error) {
	switch a.state {
	case closed:
		if a.file, err = lockfile.OpenShared(a.lock.path); err != nil {
			return false, err
		}
		a.state = refused
	case asleep:
		if !a.sleep.IsBack() {
			return false, nil
		}
		_, err := a.sleep.Result()
		a.state, a.sleep = refused, nil
		return err == nil, err
	}
	got, err = a.tryLock()
	if backend.IsErrno(err, syscall.EBADF, syscall.EIO) && !a.shared { // as flock(1) does, for NFSv4
		f, e := lockfile.OpenSharedWritable(a.lock.path)
		if e != nil {
			return false, err
		}
		_ = a.file.Close()
		a.file = f
		got, err = a.tryLock()
	}
	return got, err
}

func (a *attempt) tryLock() (bool, error) {
	if a.shared {
		return a.file.TryShared()
	}
	return a.file.TryLock()
}

// close closes the file. It leaves behind a thread that sleeps, which closes the file when it
// wakes.
func (a *attempt) close() {
	f, sleep := a.file, a.sleep
	a.state, a.file, a.sleep = closed, nil, nil
	switch {
	case f == nil:
	case sleep == nil:
		_ = f.Close()
	default:
		go func() {
			<-sleep.Done()
			_ = f.Close()
		}()
	}
}

// refusal returns an error that tells who has the lock. If there is time to look later, it asks the
// looker, which looks at little until more is due. Otherwise it looks itself, at every refused try.
func (a *attempt) refusal() error {
	e := &backend.HeldError{Lock: string(a.lock.address), Holder: backend.Holder{Verdict: owner.Unknown}}
	if a.looksLater() {
		e.Holder = a.looker.holder()
	} else if r, err := a.lock.report(a.record(), a.request.Owner.Place, flocks.Glance); err == nil && len(r.Holders) > 0 {
		e.Holder = r.Holders[0]
	} else {
		e.Holder = a.lock.refuser(flocks.Seen{}, a.record(), a.request.Owner.Place)
	}
	return e
}

// record returns the record in the file. It does not open the file if we have it open: when that is
// closed again, all who watch the file would wake (watch), and wake each other without end.
func (a *attempt) record() *owner.Record {
	if a.state == closed {
		return a.lock.record()
	}
	return recordOf(a.file)
}

func (a *attempt) looksLater() bool { return a.request.Timeout > firstLook }

// Wait implements backend.Attempt.
func (a *attempt) Wait(ctx context.Context) error {
	switch {
	case a.state == closed:
		return ctx.Err()
	case a.request.Several:
		return a.watch(ctx)
	case a.state == refused:
		f, lock := a.file, (*lockfile.File).Lock
		if a.shared {
			lock = (*lockfile.File).LockShared
		}
		a.state, a.sleep = asleep, detached.GoErr(func() error { return lock(f) })
	}
	limit := backend.NoLimit
	if a.looksLater() {
		limit = a.looker.next()
	}
	if a.sleep.Await(ctx, a.request.Clock, limit, 0) {
		return nil
	}
	return ctx.Err()
}

// Withdraw implements backend.Attempt: a waiter leaves no trace.
func (a *attempt) Withdraw(context.Context) error {
	a.inotify.Close()
	a.close()
	return nil
}
