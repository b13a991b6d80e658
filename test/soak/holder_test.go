package soak

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locksmith/protocol"
)

// A holder is a helper that holds its lock all the time.
type holder struct {
	place
	*child
	beats atomic.Int64
	gap   atomic.Int64 // the longest time between two heartbeats, in nanoseconds
	ended chan error   // receives why, when it has said its last
}

// refresh is the least that is allowed: heartbeats are what may leak.
const refresh = time.Second

// keep starts a holder, which holds the lock then.
func (p place) keep(ctx context.Context, program string) (*holder, error) {
	l, err := start(ctx, program, arguments(p.kept, []string{"hold", "--beats", "--lease", lease.String(), "--refresh", refresh.String()}))
	if err == nil {
		err = l.says(protocol.WordOK)
	}
	if err != nil {
		return nil, err
	}
	k := &holder{place: p, child: l, ended: make(chan error, 1)}
	go k.listen()
	return k, nil
}

// listen notes the heartbeats. A line that we read late is no late heartbeat: it says
// itself when it was sent.
func (k *holder) listen() {
	r := protocol.NewReader(k.out)
	for last := time.Now(); ; {
		line, err := r.Read()
		switch {
		case err != nil:
			k.ended <- fmt.Errorf("the end of its output without %s: %w", protocol.WordReleased, err)
			return
		case line.Word == protocol.WordReleased:
			k.ended <- nil
			return
		case line.Word != protocol.WordBeat:
			k.ended <- fmt.Errorf("it said %s: %s", line.Word, line.Text)
			return
		}
		ago, _ := line.Millis("sent_ms")
		sent := time.Now().Add(-ago)
		k.beats.Add(1)
		k.gap.Store(max(k.gap.Load(), int64(sent.Sub(last))))
		last = sent
	}
}

// longest is the longest time between two heartbeats.
func (k *holder) longest() time.Duration { return time.Duration(k.gap.Load()) }

// check tells whether it has held the lock all the time, with heartbeats that came
// before the lease was in danger.
func (k *holder) check(held time.Duration) error {
	latest := lease * 3 / 4
	switch least := int64(held / latest); {
	case k.longest() >= latest:
		return fmt.Errorf("%v between two heartbeats, at a lease of %v", k.longest(), lease)
	case k.beats.Load() < least:
		return fmt.Errorf("%d heartbeats in %v, want %d at least", k.beats.Load(), held, least)
	}
	return nil
}

// release ends it, and returns when the lock was removed.
func (k *holder) release() error {
	_ = k.stdin.Close()
	select {
	case err := <-k.ended:
		return errors.Join(k.explain(err), k.cmd.Wait())
	case <-time.After(waitLimit):
		return k.explain(fmt.Errorf("not released within %v", waitLimit))
	}
}
