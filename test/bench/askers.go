package main

import (
	"context"
	"fmt"
	"time"
)

// askers wait for a lock on an FTP server, where nothing wakes them.
type askers struct {
	*bench
	rival
	server *ftpServer
	queue  *queue
	since  time.Time
}

// startAskers starts them early, since they slow down for a while.
func (b *bench) startAskers(ctx context.Context) (*askers, error) {
	a := &askers{bench: b, rival: rival{name: "locksmith ftp:", missing: true}}
	var err error
	if a.server, err = b.startFTP(ctx); err != nil || a.server == nil {
		return a, err
	}
	a.rival = b.ours(a.rival.name, fmt.Sprintf("ftp://bench@127.0.0.1:%d", a.server.port), func(string) error { return nil })
	a.queue, err = b.enqueue(ctx, a.rival, "/idle", b.waiters)
	a.since = time.Now()
	return a, err
}

// report counts commands once all waiters ask slowly. It does not wait until all of
// them have had the lock.
func (a *askers) report(ctx context.Context, t *table) error {
	var rate float64
	if !a.missing {
		var err error
		if rate, err = a.rate(ctx); err != nil {
			return err
		}
	}
	t.add(fmt.Sprintf("commands a second to the server of %d waiters together, after %v", a.waiters, a.retire), "%.1f",
		[]entry{{rival: a.rival, value: rate}})
	return nil
}

func (a *askers) rate(ctx context.Context) (float64, error) {
	if err := sleep(ctx, time.Until(a.since.Add(a.retire))); err != nil {
		return 0, err
	}
	before, err := a.server.commands()
	if err != nil {
		return 0, err
	}
	if err := sleep(ctx, a.watch); err != nil {
		return 0, err
	}
	after, err := a.server.commands()
	a.queue.kill()
	a.server.stop()
	return float64(after-before) / a.watch.Seconds(), err
}
