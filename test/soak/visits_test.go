package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locksmith/locksmith/events"
)

// visitors come to a place, one after the other.
type visitors struct {
	place
	program string
	pause   time.Duration // between two of them
	visits  atomic.Int64
}

// An errand is what one of them comes for. It has ended when it returns.
type errand struct {
	what string
	do   func(*visitors, context.Context) error
}

// errands are all there are. Those who are killed have no parent, so that others know at
// once that they are dead.
func errands() []errand {
	return []errand{
		{"take it and leave it", (*visitors).run},
		{"give up after a time", (*visitors).timeOut},
		{"be told to go while waiting", (*visitors).cancelled},
		{"be killed while waiting", (*visitors).killedWaiting},
		{"hold it and let it go", (*visitors).hold},
		{"be killed while holding", (*visitors).killedHolding},
		{"come after the dead", (*visitors).run},
	}
}

// come makes one visit after the other until ctx ends.
func (v *visitors) come(ctx context.Context) error {
	all := errands()
	for n := 0; ctx.Err() == nil; n++ {
		one := all[n%len(all)]
		// What has begun comes to its end.
		bounded, cancel := within(context.WithoutCancel(ctx))
		err := one.do(v, bounded)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", v.name, one.what, err)
		}
		v.visits.Add(1)
		rest(ctx, v.pause)
	}
	return nil
}

// start starts one with these flags, on these locks.
func (v *visitors) start(ctx context.Context, locks []string, flags ...string) (*child, error) {
	return start(ctx, v.program, arguments(locks, flags))
}

// arguments puts the locks before the command, if there is one.
func arguments(locks, flags []string) []string {
	at := slices.Index(flags, "--")
	if at < 0 {
		at = len(flags)
	}
	return slices.Concat(flags[:at], locks, flags[at:])
}

func (v *visitors) run(ctx context.Context) error {
	l, err := v.start(ctx, v.busy, "run", "--lease", lease.String(), "--", "true")
	if err != nil {
		return err
	}
	return l.exits(0)
}

func (v *visitors) hold(ctx context.Context) error {
	l, err := v.start(ctx, v.busy, "hold", "--lease", lease.String())
	if err == nil {
		err = l.says("OK")
	}
	if err != nil {
		return err
	}
	return l.exits(0)
}

// killedHolding: the command says that the lock is held.
func (v *visitors) killedHolding(ctx context.Context) error {
	l, err := v.start(ctx, v.busy, "run", "--lease", lease.String(), "--", "sh", "-c", "echo held; exec sleep 1000")
	if err == nil {
		err = l.says("held")
	}
	if err == nil {
		l.kill()
	}
	return err
}

// timeOut: on a busy machine the place may not even answer in that time.
func (v *visitors) timeOut(ctx context.Context) error {
	l, err := v.start(ctx, v.kept, "hold", "--lease", lease.String(), "--timeout", "0.3")
	if err != nil {
		return err
	}
	return l.exits(75, 69)
}

func (v *visitors) cancelled(ctx context.Context) error {
	l, err := v.wait(ctx, "hold", "--lease", lease.String())
	if err != nil {
		return err
	}
	return l.exits(75)
}

func (v *visitors) killedWaiting(ctx context.Context) error {
	l, err := v.wait(ctx, "run", "--lease", lease.String(), "--", "true")
	if err == nil {
		l.kill()
	}
	return err
}

// wait starts one that waits for the lock which is always held.
func (v *visitors) wait(ctx context.Context, flags ...string) (*child, error) {
	told, tells, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l, err := start(ctx, v.program, arguments(v.kept, append([]string{flags[0], "--events", "fd:3"}, flags[1:]...)), tells)
	_ = tells.Close()
	if err != nil {
		return nil, errors.Join(err, told.Close())
	}
	context.AfterFunc(ctx, func() { _ = told.Close() }) // it may write on until it ends
	line, err := bufio.NewReader(told).ReadString('\n')
	if e, wrong := events.Parse([]byte(line)); err == nil && (wrong != nil || e.Kind != events.Waiting) {
		err = fmt.Errorf("it said %q, want that it waits", strings.TrimSpace(line))
	}
	return l, l.explain(err)
}
