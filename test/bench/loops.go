package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// mkdirCounter does in a shell what the program looper does.
const mkdirCounter = `n=0; while [ ! -e "$2" ]; do
until mkdir "$0.d" 2>/dev/null; do sleep 0.05; done
read i <"$1"; echo $((i+1)) >"$1"
rmdir "$0.d"; n=$((n+1)); done; echo $n`

// loops measures how often a second processes get a lock that live on in
// between, so that nothing but the lock costs time.
func (b *bench) loops(ctx context.Context, t *table) error {
	ours, loop := rival{name: "locksmith"}, mkdirRival()
	counter, stop := b.path("loop"), b.path("loop-stop")
	commands := map[string][]string{
		ours.name: {b.looper, "nfs:" + b.path("loop-lock"), counter, stop},
		loop.name: {"sh", "-c", mkdirCounter, b.path("loop-lock"), counter, stop},
	}
	rates := samples{}
	for range b.rounds {
		for _, r := range []rival{ours, loop} {
			total, err := b.loop(ctx, commands[r.name], counter, stop)
			if err != nil {
				return fmt.Errorf("loops with %s: %w", r.name, err)
			}
			rates.add(r, float64(total)/b.contend.Seconds())
		}
	}
	f := figure{name: fmt.Sprintf("nfs: increments a second, %d looping processes", workers), format: "%.0f", ours: rates.median(ours.name)}
	t.add(f, opponent{rival: loop, theirs: rates.median(loop.name), goal: noLessThan(300)})
	return b.noReservations("loop-lock")
}

// loop lets all workers count for a while and returns the sum, after a check
// that no increment was lost.
func (b *bench) loop(ctx context.Context, argv []string, counter, stop string) (int64, error) {
	_ = os.Remove(stop)
	if err := os.WriteFile(counter, []byte("0\n"), 0o600); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.contend+limit)
	defer cancel()
	var said [workers]bytes.Buffer
	var errs [workers]error
	var wg sync.WaitGroup
	for i := range workers {
		cmd := b.command(ctx, argv)
		cmd.Stdout = &said[i]
		wg.Go(func() { errs[i] = explain(ctx, argv, cmd.Run()) })
	}
	err := sleep(ctx, b.contend)
	err = errors.Join(err, os.WriteFile(stop, nil, 0o600))
	wg.Wait()
	var sum int64
	for i := range workers {
		n, e := strconv.ParseInt(strings.TrimSpace(said[i].String()), 10, 64)
		sum, err = sum+n, errors.Join(err, errs[i], e)
	}
	if err != nil {
		return 0, err
	}
	return sum, checkCounter(counter, sum)
}
