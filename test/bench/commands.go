package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
)

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
