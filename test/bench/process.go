package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// limit is when a process that should have ended counts as hung.
const limit = 30 * time.Second

// command makes a process that is killed, by its pid, when ctx ends.
func (b *bench) command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = b.messages
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

// A holder is a process that says OK and stays until its standard input ends.
type holder struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// hold starts a holder and returns when it has said OK.
func (b *bench) hold(ctx context.Context, argv []string) (*holder, error) {
	cmd := b.command(ctx, argv)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h := &holder{cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "OK") {
		_ = h.release()
		return nil, explain(ctx, argv, fmt.Errorf("said %q instead of OK", line))
	}
	return h, nil
}

// release ends the holder and waits until it is gone.
func (h *holder) release() error {
	_ = h.stdin.Close()
	return explain(context.Background(), h.cmd.Args, h.cmd.Wait())
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
