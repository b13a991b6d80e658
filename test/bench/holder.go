package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

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
