//go:build !linux

package local

import (
	"context"
	"time"
)

// nap looks again after slowLook.
func (a *attempt) nap(outer context.Context, timeout time.Duration) error {
	ctx, cancel := a.withTimeout(outer, min(timeout, a.pauses.NextOr(slowLook)))
	defer cancel()
	<-ctx.Done()
	return waited(ctx, outer, ctx.Err())
}
