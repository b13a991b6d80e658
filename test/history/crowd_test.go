//go:build unix

package history

import (
	"sync"
	"testing"

	"locksmith/test/lab"
)

// A crowd is all contenders of a test.
type crowd struct {
	t        *testing.T
	recorder *recorder
	gone     chan struct{} // closed when the last contender has ended
}

// start starts the contenders of cells.
func start(t *testing.T, r *recorder, cells []*cell, program string) *crowd {
	t.Helper()
	c := &crowd{t, r, make(chan struct{})}
	var wait sync.WaitGroup
	number := 0
	for _, cell := range cells {
		for _, k := range cell.contenders(number) {
			number++
			wait.Go(func() {
				if err := k.live(r, program); err != nil {
					t.Errorf("start a parent: %v", err)
				}
			})
		}
	}
	go func() {
		wait.Wait()
		close(c.gone)
	}()
	t.Cleanup(c.kill)
	return c
}

// finish lets everybody end in good order.
func (c *crowd) finish() {
	c.t.Helper()
	c.recorder.stop()
	lab.Eventually(c.t, "all have ended", func() bool {
		select {
		case <-c.gone:
			return true
		default:
			return false
		}
	}, c.recorder.living, c.recorder.said)
}

// kill kills the processes that are left.
func (c *crowd) kill() {
	c.recorder.stop()
	c.recorder.mu.Lock()
	for _, l := range c.recorder.lives {
		if l.process != nil {
			_ = l.process.Kill() // it may have ended
		}
	}
	c.recorder.mu.Unlock()
	<-c.gone
	c.recorder.wakeAll()
}

// stop says that nobody shall want a lock any more.
func (r *recorder) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calm, r.over = true, true
}

// eventually waits for a condition on what was recorded.
func (r *recorder) eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	lab.Eventually(t, what, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return ok()
	}, r.said)
}
