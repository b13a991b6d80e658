package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends"
	lockbackend "locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	lockclient "locksmith/client"
)

// client starts the helper that $LOCKSMITH names.
func client(lock string) (taker, error) {
	return func(ctx context.Context) (func() error, error) {
		l, err := lockclient.Acquire(ctx, lock)
		if err != nil {
			return nil, err
		}
		return l.Release, nil
	}, nil
}

// backend is a process that spawns nothing.
func backend(lock string) (taker, error) {
	b, _, err := backends.Open(lock, lockbackend.Access{})
	if err != nil {
		return nil, err
	}
	self, err := process.Find(os.Getpid())
	if err != nil {
		return nil, err
	}
	request := lockbackend.Request{Clock: clock.Boot{}, Timeout: lockbackend.NoLimit,
		Owner: owner.Record{Place: owner.Here(), Helper: self, User: "bench", Mode: "exclusive", Lease: time.Minute}}
	return func(ctx context.Context) (func() error, error) {
		a, err := b.Attempt(request)
		if err != nil {
			return nil, err
		}
		h, err := lockbackend.Acquire(ctx, a)
		if err != nil {
			return nil, err
		}
		return func() error { return h.Release(ctx) }, nil
	}, nil
}

// flock opens the file each time, as programs do that lock now and then.
func flock(lock string) (taker, error) {
	return func(context.Context) (func() error, error) {
		f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		for {
			if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
				break
			}
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return f.Close, nil
	}, nil
}
