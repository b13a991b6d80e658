//go:build darwin || freebsd || netbsd || openbsd

package process

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// stat knows no start times here: a pid that is used again counts as alive.
func stat(pid int) (start uint64, ended bool, err error) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return 0, false, ErrNoProcess
	}
	return 0, false, nil
}

func exited(ctx context.Context, p Process) (<-chan struct{}, error) {
	q, err := NewQueue()
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	lives, err := q.AddExit(p)
	if err != nil || !lives {
		q.Close()
		close(done)
		return done, err
	}
	go func() {
		defer q.Close()
		if _, err := q.Wait(ctx); err == nil {
			close(done)
		}
	}()
	return done, nil
}
