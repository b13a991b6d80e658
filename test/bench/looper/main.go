// Command looper increments a number in a file, each time under a lock, until
// another file exists, and prints how often it did:
//
//	looper LOCK COUNTER STOP
//
// It uses the backends directly, as a process that spawns nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: looper LOCK COUNTER STOP")
		os.Exit(64)
	}
	n, err := count(context.Background(), os.Args[1], os.Args[2], os.Args[3])
	fmt.Println(n)
	if err != nil {
		fmt.Fprintln(os.Stderr, "looper:", err)
		os.Exit(1)
	}
}

func count(ctx context.Context, lock, counter, stop string) (n int, err error) {
	b, _, err := backends.Open(lock, backend.Access{})
	if err != nil {
		return 0, err
	}
	self, err := process.Find(os.Getpid())
	if err != nil {
		return 0, err
	}
	request := backend.Request{Clock: clock.Boot{},
		Owner: owner.Record{Place: owner.Here(), Helper: self, User: "bench", Mode: "exclusive", Lease: time.Minute}}
	for ; ; n++ {
		if _, err := os.Stat(stop); err == nil {
			return n, nil
		}
		if err := once(ctx, b, request, counter); err != nil {
			return n, err
		}
	}
}

func once(ctx context.Context, b backend.Backend, r backend.Request, counter string) error {
	a, err := b.Attempt(r)
	if err != nil {
		return err
	}
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return err
	}
	return errors.Join(increment(counter), h.Release(ctx))
}

// increment is not atomic, so that two holders at once lose an increment.
func increment(counter string) error {
	text, err := os.ReadFile(counter)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return os.WriteFile(counter, []byte(strconv.Itoa(n+1)+"\n"), 0o600)
}
