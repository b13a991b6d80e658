//go:build unix

// Command looper counts under a lock, again and again:
//
//	looper FORM LOCK DIR WORKER
//
// scripts/loop.sh beside it says how. The form is client, for locks by package client,
// each with a helper; backend, for locks of the backends by this process itself; or
// flock, for flock(2) on a file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends"
	lockbackend "locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	lockclient "locksmith/client"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: looper FORM LOCK DIR WORKER")
		os.Exit(64)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "looper:", err)
		os.Exit(1)
	}
}

// A taker waits for a lock and returns how to release it.
type taker func(context.Context) (release func() error, err error)

var forms = map[string]func(lock string) (taker, error){"client": client, "backend": backend, "flock": flock}

func run(ctx context.Context, form, lock, dir, worker string) error {
	open, known := forms[form]
	if !known {
		return fmt.Errorf("no such form: %s", form)
	}
	take, err := open(lock)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for {
		if _, err := os.Stat(filepath.Join(dir, "stop")); err == nil {
			return nil
		}
		release, err := take(ctx)
		if err != nil {
			return err
		}
		if err := errors.Join(increment(dir, worker), release()); err != nil {
			return err
		}
	}
}

// increment is not atomic, so that two holders at once lose an increment.
func increment(dir, worker string) error {
	n, counter := 0, filepath.Join(dir, "counter")
	text, err := os.ReadFile(counter)
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	if err == nil {
		err = os.WriteFile(counter, fmt.Appendln(nil, n+1), 0o600)
	}
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, n+1, worker)
	return errors.Join(err, log.Close())
}

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
	b, _, err := backends.Usual().Open(lock, lockbackend.Access{})
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
		return func() error { return h.Release(ctx) }, err
	}, nil
}

// flock opens the file each time, as programs do that lock now and then.
func flock(lock string) (taker, error) {
	return func(context.Context) (func() error, error) {
		f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		}
		return f.Close, err
	}, nil
}
