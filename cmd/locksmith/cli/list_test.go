package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// slow is a place where each look takes the given time and finds a lock.
type slow []time.Duration

func (s slow) list(_ context.Context, l backend.Listing) error {
	for i, d := range s {
		l.Step()
		time.Sleep(d)
		l.Tell(backend.Listed{Lock: fmt.Sprint("lock ", i)})
	}
	return nil
}

// TestListHangs: one look that hangs is left behind, however long all looks and the reader of
// the output take.
func TestListHangs(t *testing.T) {
	const fine = lookTime - time.Second
	for _, c := range []struct {
		place slow
		want  int
	}{
		{slow{fine, fine, fine}, 3},
		{slow{fine, 2 * lookTime, fine}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			told := 0
			err := new(listing).list(t.Context(), "/place", c.place.list, func(backend.Listed) {
				told++
				time.Sleep(10 * lookTime)
			})
			if told != c.want || (err != nil) != (c.want < len(c.place)) || err != nil && codeOf(err) != protocol.Unreachable {
				t.Errorf("looks that take %v: told of %d locks, %v", c.place, told, err)
			}
			time.Sleep(2 * lookTime) // until the look that was left behind ends, too
		})
	}
}

// TestListInterrupted: the error of list tells what ended it.
func TestListInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		signal := &locksmith.SignalError{}
		time.AfterFunc(time.Second, func() { cancel(signal) })
		err := new(listing).list(ctx, "/place", slow{lookTime / 2}.list, func(backend.Listed) { t.Error("told") })
		if !errors.Is(err, signal) {
			t.Error(err)
		}
		time.Sleep(lookTime)
	})
}

func TestIsPath(t *testing.T) {
	for place, want := range map[string]bool{
		"/a": true, ".": true, "..": true, "a/": true, "./a": true, "../a": true, "./a:b": true,
		"job": false, "nfs:/a": false, "nfs:a/": false, "ftp://host/a": false, "": false,
	} {
		if got := isPath(place); got != want {
			t.Errorf("isPath of %s is %t", place, got)
		}
	}
}
