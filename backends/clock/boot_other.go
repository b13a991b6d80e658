//go:build !linux

package clock

import (
	"context"
	"time"
)

// Boot is the Clock that counts the time since this machine was started.
type Boot struct{}

// Now implements Clock.
func (Boot) Now() time.Duration { return sinceBoot() }

// look is how often a timer asks the clock. Go's timers stand still during a suspend, so without
// looks a timer would come late by all that was left of it.
const look = time.Second

// NewTimer implements Clock.
func (b Boot) NewTimer(d time.Duration) Timer {
	ctx, stop := context.WithCancel(context.Background())
	t := &bootTimer{c: make(chan time.Time, 1), stop: stop}
	go t.wait(ctx, b.Now()+d)
	return t
}

type bootTimer struct {
	c    chan time.Time
	stop context.CancelFunc
}

func (t *bootTimer) wait(ctx context.Context, due time.Duration) {
	for {
		left := due - sinceBoot()
		if left <= 0 {
			t.c <- time.Now()
			return
		}
		part := time.NewTimer(min(left, look))
		select {
		case <-part.C:
		case <-ctx.Done():
			part.Stop()
			return
		}
	}
}

func (t *bootTimer) C() <-chan time.Time { return t.c }
func (t *bootTimer) Stop()               { t.stop() }
