package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// limit is when a process that should have ended counts as hung.
const limit = 2 * time.Minute

// command makes a process in a group of its own, which is killed when ctx ends.
func (b *bench) command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = b.messages
	cmd.Env = append(os.Environ(), "NODE_PATH=/usr/share/nodejs", "PYTHONDONTWRITEBYTECODE=1", "LOCKSMITH="+b.path("locksmith"), "ETCDCTL_API=3", "LOCKSMITH_PASSWORD=bench")
	cmd.SysProcAttr = apart()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// once runs a command to its end and returns how long that took.
func (b *bench) once(ctx context.Context, argv []string) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it hung for %v", limit))
	defer cancel()
	cmd := b.command(ctx, argv)
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	return took, explain(ctx, argv, err)
}

// explain adds to a process's error what it was and, if we killed it, why.
func explain(ctx context.Context, argv []string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
}

// A process is one that runs beside us.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // of its end
}

// start starts a process that is killed when ctx ends.
func (b *bench) start(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	b.running.Go(func() {
		p.err = explain(ctx, cmd.Args, cmd.Wait())
		close(p.done)
	})
	return p, nil
}

// wait returns how it ended.
func (p *process) wait() error {
	select {
	case <-p.done:
		return p.err
	case <-time.After(limit):
		return fmt.Errorf("%s: it hung for %v", strings.Join(p.cmd.Args, " "), limit)
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
