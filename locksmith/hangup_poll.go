package locksmith

import (
	"context"
	"os"
	"time"
)

// hangupLook is how often lookForHangup looks.
const hangupLook = 100 * time.Millisecond

// lookForHangup is Hangup for when nothing wakes it. It needs no descriptor of its own.
func lookForHangup(ctx context.Context, f *os.File, input bool) error {
	ticker := time.NewTicker(hangupLook)
	defer ticker.Stop()
	for {
		if gone, err := hungUp(f, input); gone || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
