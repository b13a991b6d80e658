package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"locksmith/client"
)

func ExampleDo() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)

	err := client.Do(context.Background(), "local:"+filepath.Join(dir, "billing.lock"), func(ctx context.Context) error {
		fmt.Println("working") // until done, or ctx ends
		return nil
	})
	fmt.Println(err)
	// Output:
	// working
	// <nil>
}

func ExampleAcquire() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)

	lock, err := client.Acquire(context.Background(), "local:"+filepath.Join(dir, "billing.lock"), client.Timeout(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("working") // until done, or lock.Context() ends
	if err := lock.Release(); err != nil {
		fmt.Println("lost on the way:", err)
	}
	// Output: working
}

func ExampleTryAcquire() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	address := "local:" + filepath.Join(dir, "billing.lock")

	ctx := context.Background()
	lock, err := client.Acquire(ctx, address)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Release()

	_, err = client.TryAcquire(ctx, address)
	var held *client.HeldError
	if errors.Is(err, client.ErrHeld) && errors.As(err, &held) {
		fmt.Println("somebody else works; is it we?", held.Holder.ID == lock.ID())
	}
	// Output: somebody else works; is it we? true
}

func ExampleLock_Context() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "billing.lock")

	lock, err := client.Acquire(context.Background(), "local:"+path, client.Tuning{Refresh: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Release()
	os.Remove(path) // somebody removes our lock
	select {
	case <-lock.Context().Done():
		fmt.Println("stopped, because the lock is lost:", lock.Err() != nil)
	case <-time.After(time.Minute):
	}
	// Output: stopped, because the lock is lost: true
}

func ExampleAnd() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	from, to := "local:"+filepath.Join(dir, "account-7"), "local:"+filepath.Join(dir, "account-4")

	both, err := client.Acquire(context.Background(), from, client.And(to))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("moving money")
	if err := both.Release(); err != nil {
		fmt.Println("lost on the way:", err)
	}
	// Output: moving money
}
