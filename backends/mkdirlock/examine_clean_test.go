//go:build unix

package mkdirlock

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
)

// TestExamineEndsSoon: who does not want to know any more is not kept waiting by a
// place that has become slow, or hangs, and is told what stays.
func TestExamineEndsSoon(t *testing.T) {
	for _, slow := range []time.Duration{3 * time.Second, time.Hour} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var calls atomic.Int32
				var cancelled time.Time
				p := patient{memory: newMemory(habits{})}
				p.dir = func(_ int, m *memory) Dir {
					return hooked{m, func(o operation) error {
						switch n := calls.Add(1); {
						case n == 7:
							cancelled = time.Now()
							cancel()
							return context.Canceled
						case n > 7:
							time.Sleep(slow)
						}
						return o.do()
					}}
				}
				all, _ := p.examine(ctx)
				defer time.Sleep(2 * slow) // until the call that was left behind returns
				between(t, "the end", time.Since(cancelled), 0, graceTime)
				if !slices.ContainsFunc(all, func(c backend.Check) bool {
					return c.Name == "clean up" && strings.Contains(c.Text, "may still be there: there was no time")
				}) {
					t.Errorf("%+v", all)
				}
			})
		})
	}
}
