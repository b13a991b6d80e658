//go:build unix && !linux

package link

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/inotify"
	"locksmith/backends/process"
)

type watcher = inotify.Watcher

// Await implements FS. It only sleeps: nothing wakes a waiter here.
func (d *directory) Await(ctx context.Context, _ string, _ process.Process, pause time.Duration) {
	clock.Sleep(ctx, clock.Boot{}, pause)
}
