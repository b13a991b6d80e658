package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// helpers is how many processes hold a lock each. What they share, such as the
// program's text, is divided among them.
const helpers = 10

// memory measures an idle helper, next to a Go program that does nothing.
func (b *bench) memory(ctx context.Context, t *table) (err error) {
	ctx, cancel := context.WithTimeout(ctx, b.settle+limit)
	defer cancel()
	var ours, bare []*holder
	defer func() {
		for _, h := range slices.Concat(ours, bare) {
			err = errors.Join(err, h.release())
		}
		for i := range helpers {
			err = errors.Join(err, b.noneLeft(lockName(i)))
		}
	}()
	for i := range helpers {
		h, err := b.hold(ctx, []string{b.locksmith, "hold", "local:" + b.path(lockName(i))})
		if err != nil {
			return err
		}
		ours = append(ours, h)
		if h, err = b.hold(ctx, []string{b.floor}); err != nil {
			return err
		}
		bare = append(bare, h)
	}
	if err := sleep(ctx, b.settle); err != nil {
		return err
	}
	return reportMemory(t, ours, bare)
}

func lockName(i int) string { return fmt.Sprintf("memory-%d", i) }

func reportMemory(t *table, ours, bare []*holder) error {
	mine, err := sizes(ours)
	if err != nil {
		return err
	}
	theirs, err := sizes(bare)
	if err != nil {
		return err
	}
	floor := rival{name: "bare Go program"}
	f := figure{name: fmt.Sprintf("MiB (PSS) of one of %d helpers, median", helpers), format: "%.2f", ours: median(mine)}
	t.add(f, opponent{rival: floor, theirs: median(theirs), goal: absolutely(1.6)})
	f.name, f.ours = "MiB (PSS) of the largest of them", slices.Max(mine)
	t.add(f, opponent{rival: floor, theirs: slices.Max(theirs), goal: absolutely(1.6)})
	return nil
}

func sizes(holders []*holder) ([]float64, error) {
	var all []float64
	for _, h := range holders {
		size, err := pss(h.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		all = append(all, size)
	}
	return all, nil
}
