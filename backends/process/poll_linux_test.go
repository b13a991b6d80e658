package process

import (
	"context"
	"errors"
	"os"
	"runtime/pprof"
	"sync"
	"testing"
	"time"
)

// TestPollTogether: many polls at the same time wake when they should, and cost no threads.
func TestPollTogether(t *testing.T) {
	const n = 200
	before := pprof.Lookup("threadcreate").Count()
	ctx, cancel := context.WithCancel(t.Context())
	type woken struct {
		i   int
		err error
	}
	back := make(chan woken, n)
	var writers []*os.File
	var all sync.WaitGroup
	for i := range n {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		writers = append(writers, w)
		fd := int(r.Fd())
		all.Go(func() { back <- woken{i, Poll(ctx, NoFD, fd)} })
	}
	for _, i := range []int{7, 0, n - 1} {
		if _, err := writers[i].WriteString("x"); err != nil {
			t.Fatal(err)
		}
		if got := <-back; got != (woken{i, nil}) {
			t.Errorf("descriptor %d has become readable, and Poll number %d returns %v", i, got.i, got.err)
		}
	}
	begun := time.Now()
	if err := PollFor(ctx, 10*time.Millisecond, NoFD); err != nil || time.Since(begun) < 10*time.Millisecond {
		t.Errorf("PollFor returns %v after %v, want no error after 10ms: look at pollParked (process_linux.go)", err, time.Since(begun))
	}
	if made := pprof.Lookup("threadcreate").Count() - before; made > 20 {
		t.Errorf("%d threads were made for %d calls of Poll at a time, want 20 at most", made, n)
	}
	cancel()
	all.Wait()
	close(back)
	for got := range back {
		if !errors.Is(got.err, context.Canceled) {
			t.Errorf("a cancelled wait gives %+v, want %v", got, context.Canceled)
		}
	}
	if left := polls.Load(); left != 0 {
		t.Errorf("after the last call %d calls of Poll count as under way", left)
	}
}
