//go:build unix

package link

import (
	"context"
	"time"

	"locksmith/backends/process"
)

// Wait implements backend.Attempt. It keeps to the manners, and is cut short when
// the lock goes away, where that can be noticed, or may be broken.
func (a *attempt) Wait(ctx context.Context) error {
	if a.fs == nil {
		return ctx.Err()
	}
	keeper := process.Process{}
	if a.known {
		keeper = a.lock.keeper(a.seen.content)
	}
	a.fs.Await(ctx, a.lock.Name, keeper, a.pause())
	return ctx.Err()
}

func (a *attempt) pause() time.Duration {
	d := a.pauses.Next()
	if a.known && a.seen.Due > 0 {
		d = min(d, max(a.seen.Due, time.Millisecond))
	}
	return d
}
