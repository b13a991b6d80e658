package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A crowd is processes that want one lock, ready to begin.
type crowd struct {
	begin func()
	wait  func() error
}

// A form is a way to contend for a lock: how to get so many processes ready.
type form func(ctx context.Context, r rival, lock string, l *ledger, n int) (crowd, error)

// rates are what contention came to, in increments and in hand-offs a second. Who lost
// an update, or failed otherwise, has no rates worth telling.
type rates struct {
	increments, handoffs samples
	spoilt               map[string]string // why
}

// contend lets all rivals have their turns, in each round and for each size of crowd.
func (b *bench) contend(ctx context.Context, t *table, rivals []rival, get form, how string, hopes func(handoffs bool) goals) error {
	for _, n := range b.crowds {
		found := rates{samples{}, samples{}, map[string]string{}}
		for range b.rounds {
			for _, r := range present(rivals) {
				if err := b.turn(ctx, r, get, n, found); err != nil {
					return fmt.Errorf("%d processes with %s: %w", n, r.name, err)
				}
			}
		}
		for _, f := range []struct {
			what   string
			values samples
			hopes  goals
		}{{"hand-offs", found.handoffs, hopes(true)}, {"increments", found.increments, hopes(false)}} {
			t.medians(fmt.Sprintf("%s a second, %d processes, %s", f.what, n, how), "%.0f", rivals, f.values, f.hopes)
			t.spoil(found.spoilt)
		}
	}
	return nil
}

// turn is one rival's race. Ours must not fail.
func (b *bench) turn(ctx context.Context, r rival, get form, n int, found rates) error {
	a, err := b.race(ctx, r, get, n)
	if err != nil && (r.isOurs() || ctx.Err() != nil) {
		return err
	}
	if err != nil {
		fmt.Fprintf(b.log, "bench: %d processes with %s: %v\n", n, r.name, err)
		found.spoilt[r.name] = "failed"
		if errors.Is(err, errLostUpdate) {
			found.spoilt[r.name] = "lost updates"
		}
	}
	found.increments.add(r, float64(a.increments)/a.took.Seconds())
	found.handoffs.add(r, float64(a.handoffs)/a.took.Seconds())
	return nil
}

// race lets a crowd count for a while, and returns what it came to in that time.
// Whoever is inside then ends in peace; who naps is killed in it.
func (b *bench) race(ctx context.Context, r rival, get form, n int) (account, error) {
	b.races++
	lock := b.path(fmt.Sprintf("race-%d", b.races))
	l, err := newLedger(lock + ".ledger")
	if err != nil {
		return account{}, err
	}
	within, cancel := context.WithTimeoutCause(ctx, b.plan.contend+b.plan.most+limit, fmt.Errorf("it hung for %v", limit))
	defer cancel()
	c, err := get(within, r, lock, l, n)
	if err != nil {
		return account{}, err
	}
	c.begin()
	timely, err := b.interim(ctx, l)
	err = errors.Join(err, l.stop())
	if r.naps {
		defer time.AfterFunc(300*time.Millisecond, cancel).Stop()
	}
	if e := c.wait(); !r.naps || !errors.Is(e, context.Canceled) {
		err = errors.Join(err, e)
	}
	if err != nil {
		return timely, err
	}
	return timely, errors.Join(l.check(within.Err() != nil), r.noneLeft(lock))
}

// interim is what was added in a while, once all have had the time to come. The while is
// longer for those who nap, so that there are enough hand-offs in it to count.
func (b *bench) interim(ctx context.Context, l *ledger) (account, error) {
	if err := sleep(ctx, b.plan.contend/2); err != nil {
		return account{}, err
	}
	before, err := l.account()
	begin := time.Now()
	for err == nil {
		if err = sleep(ctx, b.plan.contend); err != nil {
			break
		}
		var a account
		a, err = l.account()
		a.took = time.Since(begin)
		a.increments -= before.increments
		a.handoffs -= before.handoffs
		if a.handoffs >= b.plan.changes || a.took >= b.plan.most {
			return a, err
		}
	}
	return account{took: time.Since(begin)}, err
}
