package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
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

// A holder is a process that says OK and stays until its standard input ends.
type holder struct {
	*process
	stdin *os.File
	ok    chan result // has one result
}

// A result is when a holder said OK, or why it did not.
type result struct {
	at  time.Time
	err error
}

// queueUp starts a holder and does not wait for its OK.
func (b *bench) queueUp(ctx context.Context, argv []string) (*holder, error) {
	cmd := b.command(ctx, argv)
	// Pipes of our own: those of package exec are closed when the process has ended,
	// whoever reads at that time.
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		_, _ = in.Close(), stdin.Close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = in, out
	p, err := b.start(ctx, cmd)
	_, _ = in.Close(), out.Close()
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, err
	}
	// A read that blocks has a thread of its own, which the kernel wakes at once. Go's
	// poller would add a wake-up of ours to what the lock takes.
	_ = stdout.Fd()
	h := &holder{process: p, stdin: stdin, ok: make(chan result, 1)}
	b.running.Go(func() { h.ok <- h.listen(stdout) })
	return h, nil
}

// listen reads the line OK, and then whatever else is said.
func (h *holder) listen(stdout *os.File) result {
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	at := time.Now()
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = stdout.Close()
	}()
	if err != nil || !strings.HasPrefix(line, "OK") {
		return result{at, fmt.Errorf("%s: said %q instead of OK", strings.Join(h.cmd.Args, " "), line)}
	}
	return result{at: at}
}

// hold starts a holder and returns when it has said OK.
func (b *bench) hold(ctx context.Context, argv []string) (*holder, error) {
	h, err := b.queueUp(ctx, argv)
	if err != nil {
		return nil, err
	}
	if r := h.granted(); r.err != nil {
		h.letGo()
		return nil, r.err
	}
	return h, nil
}

// granted waits for the OK.
func (h *holder) granted() result {
	select {
	case r := <-h.ok:
		return r
	case <-time.After(limit):
		return result{err: fmt.Errorf("%s: no OK for %v", strings.Join(h.cmd.Args, " "), limit)}
	}
}

// letGo ends the holder, and does not wait until it is gone.
func (h *holder) letGo() { _ = h.stdin.Close() }

// release ends the holder and waits until it is gone.
func (h *holder) release() error {
	h.letGo()
	return h.wait()
}
