package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

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
