package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
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
	failures             map[string]string // why
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
			t.markFailed(found.failures)
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
		found.failures[r.name] = "failed"
		if errors.Is(err, errLostUpdate) {
			found.failures[r.name] = "lost updates"
		}
	}
	found.increments.add(r, float64(a.increments)/a.took.Seconds())
	found.handoffs.add(r, float64(a.handoffs)/a.took.Seconds())
	return nil
}

// race lets a crowd count for a while, and returns what it came to in that time.
// Whoever is inside then ends in peace; who sleeps is killed in it.
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
	if r.sleeps {
		defer time.AfterFunc(300*time.Millisecond, cancel).Stop()
	}
	if e := c.wait(); !r.sleeps || !errors.Is(e, context.Canceled) {
		err = errors.Join(err, e)
	}
	if err != nil {
		return timely, err
	}
	return timely, errors.Join(l.check(within.Err() != nil), r.noneLeft(lock))
}

// interim is what was added in a while, once all have had the time to come. The while is
// longer for those who sleep, so that there are enough hand-offs in it to count.
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

// commands measures contention by tools that run a command under the lock.
func (b *bench) commands(ctx context.Context, t *table) error {
	rivals := []rival{b.local(), b.nfs(), flock(), setlock(), dotlockfile(), lockfile(), b.mkdirLoop(), b.etcdctl()}
	return b.contend(ctx, t, rivals, b.commanders, "each time a command", func(bool) goals {
		five := goal{local: atLeast(5), nfs: atLeast(5)}
		return goals{dotlockfile().name: five, lockfile().name: five, b.mkdirLoop().name: {local: atLeast(4)}}
	})
}

// commanders run a rival's command again and again.
func (b *bench) commanders(ctx context.Context, r rival, lock string, l *ledger, n int) (crowd, error) {
	errs := make([]error, n)
	var wg sync.WaitGroup
	begin := func() {
		for i := range n {
			argv := r.run(lock, "sh", "-c", increment, l.dir, strconv.Itoa(i))
			wg.Go(func() {
				for errs[i] == nil && !l.isStopped() {
					_, errs[i] = b.once(ctx, argv)
				}
			})
		}
	}
	return crowd{begin, func() error { wg.Wait(); return errors.Join(errs...) }}, nil
}

// loops measures contention by processes that live on between one lock and the next,
// so that nothing but the lock costs time; with package client, a helper's start, too.
func (b *bench) loops(ctx context.Context, t *table) error {
	libraries := b.libraries(ctx)
	nfs := b.helpless(b.nfs(), "nfs:")
	rivals := append([]rival{b.local(), b.nfs(), b.helpless(b.local(), "local:"), nfs, b.kernel(), b.mkdirLoop()}, libraries...)
	return b.contend(ctx, t, rivals, b.loopers, "in loops", func(handoffs bool) goals {
		g := goals{}
		for _, r := range libraries {
			g[r.name] = goal{local: atLeast(5), nfs: atLeast(5)}
		}
		if !handoffs {
			g[nfs.name] = goal{value: atLeast(300)}
		}
		return g
	})
}

// loopers are processes that wait for the end of their standard input, and then loop.
func (b *bench) loopers(ctx context.Context, r rival, lock string, l *ledger, n int) (crowd, error) {
	in, gate, err := os.Pipe()
	if err != nil {
		return crowd{}, err
	}
	defer in.Close()
	all := make([]*looper, 0, n)
	for i := 0; i < n && err == nil; i++ {
		var one *looper
		if one, err = b.looper(ctx, append(r.loop(lock), l.dir, strconv.Itoa(i)), in); err == nil {
			all = append(all, one)
		}
	}
	for _, one := range all {
		err = errors.Join(err, one.ready())
	}
	c := crowd{begin: func() { _ = gate.Close() }, wait: func() error { return waitAll(all) }}
	if err != nil {
		c.begin()
		err = errors.Join(err, l.stop(), c.wait())
	}
	return c, err
}

// A looper is one of them.
type looper struct {
	*process
	stdout *os.File
}

func (b *bench) looper(ctx context.Context, argv []string, in *os.File) (*looper, error) {
	cmd := b.command(ctx, argv)
	cmd.Stdin = in
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout = out
	p, err := b.start(ctx, cmd)
	if err != nil {
		_ = stdout.Close()
		return nil, err
	}
	return &looper{p, stdout}, nil
}

// ready waits until it is.
func (l *looper) ready() error {
	defer l.stdout.Close()
	line, err := bufio.NewReader(l.stdout).ReadString('\n')
	if strings.TrimSpace(line) == "ready" {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: said %q instead of ready", strings.Join(l.cmd.Args, " "), line), err)
}

func waitAll(all []*looper) (err error) {
	for _, one := range all {
		err = errors.Join(err, one.wait())
	}
	return err
}
