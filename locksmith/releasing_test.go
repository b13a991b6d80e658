package locksmith

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// TestReleaseTimeout: who lets go of a lock on a server that died is told so in time,
// and is not told of each try.
func TestReleaseTimeout(t *testing.T) {
	for _, limit := range []time.Duration{0, 10 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			clk := &jumpingClock{start: clock.Runtime{}.Now()}
			w := &world{clock: clk, releaseErr: func(n int) error { return fmt.Errorf("connection %d refused", n) }}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(ErrStdinClosed)
			var log strings.Builder
			h := &Helper{Address: "fake:/x", Locker: w, Guard: &guard{ctx: ctx, clock: clk}, Timeout: Forever, ReleaseTimeout: limit,
				Log:     hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn}),
				Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: time.Hour}, Clock: clk}}
			err := (&tenure{helper: h, hold: w, lease: time.Hour, every: time.Minute}).release()
			if CodeOf(err) != protocol.Unreleased || clk.Now() > limit || clk.Now() < limit*8/10 || !strings.Contains(err.Error(), "frees itself") {
				t.Errorf("%v: %v after %v", limit, err, clk.Now())
			}
			if n := strings.Count(log.String(), "[WARN]"); n > 1 || n == 0 && limit > 0 {
				t.Errorf("%v: %d warnings:\n%s", limit, n, &log)
			}
		})
	}
}
