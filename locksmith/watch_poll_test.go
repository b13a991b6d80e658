//go:build unix

package locksmith

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestDeathIsSeenSoon: where the kernel does not tell of the parent's death, as on BSDs, it is
// seen within two seconds, by looks at least half a second apart.
func TestDeathIsSeenSoon(t *testing.T) {
	parent := exec.Command("sleep", "600")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = parent.Process.Kill(); _ = parent.Wait() }
	defer end()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		w := Watch{Parent: parent.Process.Pid, Log: hclog.NewNullLogger(), noPidfd: true}
		w.watchParent(ctx, stop, nil)
		time.Sleep(time.Minute + time.Millisecond) // not at the moment of a look, which could come after the death
		if ctx.Err() != nil {
			t.Fatalf("while it lives: %v", context.Cause(ctx))
		}
		end()
		died := time.Now()
		<-ctx.Done()
		if late := time.Since(died); late < 500*time.Millisecond || late > 2*time.Second || !errors.Is(context.Cause(ctx), ErrParentDied) {
			t.Errorf("the watch ends %v after the parent, because of %v; want ErrParentDied after half a second to two", late, context.Cause(ctx))
		}
	})
}
