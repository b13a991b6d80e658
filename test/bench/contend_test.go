package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestWindow: those who sleep for longer than the usual time are watched until they have
// handed the lock on often enough, or for as long as is bearable.
func TestWindow(t *testing.T) {
	const enough, most = 5, time.Minute
	for _, c := range []struct {
		sleep    time.Duration
		handoffs int
		took     time.Duration
	}{
		{time.Millisecond, 1000, time.Second},
		{3 * time.Second, enough, 15 * time.Second},
		{25 * time.Second, 2, most},
		{time.Hour, 0, most},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, err := newLedger(filepath.Join(t.TempDir(), "ledger"))
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{settings: settings{plan: plan{contend: time.Second, changes: enough, most: most}}}
			begin := time.Now()
			var all sync.WaitGroup
			all.Go(func() { count(t, l, c.sleep) })
			a, err := b.interim(t.Context(), l)
			if err != nil || time.Since(begin) != b.plan.contend/2+a.took {
				t.Errorf("sleep %v: %v after %v", c.sleep, err, time.Since(begin))
			}
			if a.handoffs < c.handoffs-1 || a.handoffs > c.handoffs+1 || a.took < c.took-c.sleep || a.took > c.took+c.sleep {
				t.Errorf("sleep %v: %d hand-offs in %v, want %d in %v", c.sleep, a.handoffs, a.took, c.handoffs, c.took)
			}
			if err := l.stop(); err != nil {
				t.Error(err)
			}
			all.Wait()
		})
	}
}

// count increments, as another worker each time, with a sleep before each.
func count(t *testing.T, l *ledger, sleep time.Duration) {
	log, err := os.OpenFile(filepath.Join(l.dir, "log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer log.Close()
	for n := 1; ; n++ {
		select {
		case <-l.stopped:
			return
		case <-time.After(sleep):
		}
		if _, err := fmt.Fprintf(log, "%d worker%d\n", n, n); err != nil {
			t.Error(err)
		}
	}
}
