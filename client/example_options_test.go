package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/client"
	"locksmith/protocol"
)

// temporary is a directory for locks. Real ones are in a place that all who lock agree on.
func temporary() (dir string, remove func()) {
	dir, _ = os.MkdirTemp("", "example")
	return dir, func() { _ = os.RemoveAll(dir) }
}

// A policy that gives up at once if the holder is another instance of this job, and else tries
// for a while.
func ExampleWait() {
	dir, remove := temporary()
	defer remove()
	address := "local:" + filepath.Join(dir, "billing.lock")
	lock, err := client.Acquire(context.Background(), address)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Release()

	_, err = client.Acquire(context.Background(), address, client.Wait(
		func(tries int, waited time.Duration, held *client.HeldError) (pause time.Duration, goesOn bool) {
			return 20 * time.Millisecond, tries < 3 && waited < time.Minute
		}))
	fmt.Println(errors.Is(err, client.ErrGaveUp), errors.Is(err, client.ErrHeld))
	// Output: true true
}

// The program tells its user for whom it waits.
func ExampleWaiting() {
	dir, remove := temporary()
	defer remove()
	address := "local:" + filepath.Join(dir, "billing.lock")
	first, err := client.Acquire(context.Background(), address)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := client.Acquire(context.Background(), address, client.Waiting(func(held *client.HeldError) {
		fmt.Println("waiting for our own first lock:", held.Holder.ID == first.ID())
		_ = first.Release()
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("have it:", second.Release() == nil)
	// Output:
	// waiting for our own first lock: true
	// have it: true
}

// At most two jobs at a time.
func ExampleOr() {
	dir, remove := temporary()
	defer remove()
	slots := []string{"local:" + filepath.Join(dir, "slot-0"), "local:" + filepath.Join(dir, "slot-1")}
	one, err := client.Acquire(context.Background(), slots[0], client.Or(slots[1:]...))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer one.Release()
	other, err := client.Acquire(context.Background(), slots[0], client.Or(slots[1:]...))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer other.Release()
	_, err = client.Acquire(context.Background(), slots[0], client.Or(slots[1:]...), client.Retries(0))
	fmt.Println(one.Index()+other.Index() == 1, errors.Is(err, client.ErrHeld))
	// Output: true true
}

// Readers share a lock that a writer has alone.
func ExampleShared() {
	dir, remove := temporary()
	defer remove()
	address, ctx := "nfs:"+filepath.Join(dir, "catalogue"), context.Background()
	for range 2 {
		reader, err := client.Acquire(ctx, address, client.Shared())
		if err != nil {
			fmt.Println(err)
			return
		}
		defer reader.Release()
	}
	_, err := client.Acquire(ctx, address, client.Retries(0))
	fmt.Println("a writer has to wait:", errors.Is(err, client.ErrHeld))
	// Output: a writer has to wait: true
}

// A job that hangs must not keep its lock for ever.
func ExampleMaxHold() {
	dir, remove := temporary()
	defer remove()
	err := client.Do(context.Background(), "local:"+filepath.Join(dir, "billing.lock"), func(ctx context.Context) error {
		<-ctx.Done() // hangs, but heeds its context
		return ctx.Err()
	}, client.MaxHold(50*time.Millisecond))
	var lost *client.LostError
	fmt.Println(errors.As(err, &lost) && lost.Code == protocol.MaxHold)
	// Output: true
}

// What the helper logs goes where the program's own log goes.
func ExampleSlog() {
	dir, remove := temporary()
	defer remove()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey { // the rest differs each time
			return a
		}
		return slog.Attr{}
	}}))
	lock, err := client.Acquire(context.Background(), "local:"+filepath.Join(dir, "billing.lock"), client.Slog(logger))
	fmt.Println(err == nil && lock.Release() == nil)
	// Output: true
}

// A program that logs with hclog has this handler of slog for it.
type hclogHandler struct{ hclog.Logger }

func (h hclogHandler) Enabled(_ context.Context, l slog.Level) bool {
	return hclog.Level(l/4+3) >= h.GetLevel()
}
func (h hclogHandler) WithGroup(name string) slog.Handler { return hclogHandler{h.Named(name)} }
func (h hclogHandler) WithAttrs(all []slog.Attr) slog.Handler {
	return hclogHandler{h.With(args(all)...)}
}
func (h hclogHandler) Handle(_ context.Context, r slog.Record) error {
	all := slices.Collect(r.Attrs)
	h.Log(hclog.Level(r.Level/4+3), r.Message, args(all)...)
	return nil
}

func args(all []slog.Attr) (flat []any) {
	for _, a := range all {
		flat = append(flat, a.Key, a.Value.Any())
	}
	return flat
}

func ExampleSlog_hclog() {
	dir, remove := temporary()
	defer remove()
	var log strings.Builder
	logger := hclog.New(&hclog.LoggerOptions{Name: "billing", Level: hclog.Debug, Output: &log})
	err := client.Do(context.Background(), "local:"+filepath.Join(dir, "billing.lock"), func(context.Context) error {
		return nil
	}, client.Slog(slog.New(hclogHandler{logger})))
	fmt.Println(err, strings.Contains(log.String(), "[DEBUG] billing: acquired: id="))
	// Output: <nil> true
}

// Others read why the lock is held, in locksmith status and in the errors of waiters.
func ExampleMeta() {
	dir, remove := temporary()
	defer remove()
	path := filepath.Join(dir, "billing.lock")
	err := client.Do(context.Background(), "local:"+path, func(context.Context) error {
		fmt.Println("working")
		return nil
	}, client.Meta(map[string]string{"job": "nightly", "reason": "month end"}))
	fmt.Println(err)
	// Output:
	// working
	// <nil>
}

// A service takes the lock of a customer for each request.
func ExamplePool() {
	dir, remove := temporary()
	defer remove()
	locks := &client.Pool{Size: 2}
	defer locks.Close()
	handler := func(w http.ResponseWriter, r *http.Request) {
		err := locks.Do(r.Context(), client.Key("local:"+dir, r.FormValue("customer")), func(ctx context.Context) error {
			_, err := fmt.Fprintln(w, "billed", r.FormValue("customer")) // until done, or ctx ends
			return err
		}, client.Timeout(10*time.Second))
		if errors.Is(err, client.ErrHeld) {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	}
	for _, customer := range []string{"alice", "bob"} {
		answer := httptest.NewRecorder()
		handler(answer, httptest.NewRequest("POST", "/bill?customer="+customer, nil))
		fmt.Print(answer.Body)
	}
	// Output:
	// billed alice
	// billed bob
}
