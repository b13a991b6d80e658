package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// soonCollected makes Go collect what is not needed any more long before there are
// megabytes of it: what was not collected yet is no leak.
const soonCollected = "GOGC=5"

// A child is a locksmith that runs. What it logs is kept for its errors.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader // standard output
	log   strings.Builder
}

// start starts a process that is killed, by its pid, when ctx ends.
func start(ctx context.Context, program string, args []string, inherits ...*os.File) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Stderr, c.cmd.ExtraFiles = &c.log, inherits
	c.cmd.Env = append(os.Environ(), soonCollected)
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.stdin, c.out = stdin, bufio.NewReader(stdout)
	return c, c.cmd.Start()
}

// says waits for a line with a word in it.
func (c *child) says(word string) error {
	line, err := c.out.ReadString('\n')
	if err == nil && strings.Contains(line, word) {
		return nil
	}
	return c.explain(fmt.Errorf("it said %q, want %s (%v)", line, word, err))
}

// kill ends it as kill -9 does, and waits until it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// exits lets go, and waits for one of these exit statuses.
func (c *child) exits(statuses ...int) error {
	_ = c.stdin.Close()
	_, _ = io.Copy(io.Discard, c.out)
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return c.explain(err)
	}
	if got := c.cmd.ProcessState.ExitCode(); !slices.Contains(statuses, got) {
		return c.explain(fmt.Errorf("it ended with %d, want one of %d", got, statuses))
	}
	return nil
}

// explain adds what it was, and what it logged. It has ended then.
func (c *child) explain(err error) error {
	if err == nil {
		return nil
	}
	c.kill()
	return fmt.Errorf("%s: %w\n%s", strings.Join(c.cmd.Args[1:], " "), err, &c.log)
}

// within bounds one visit.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, waitLimit, fmt.Errorf("not within %v", waitLimit))
}

// rest waits for d, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
