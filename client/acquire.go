package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"locksmith/protocol"
)

const defaultGrace = 10 * time.Second

// Acquire acquires the lock at an address, or of a profile, waiting for it until
// ctx ends. ctx is for the acquisition only: a lock that is held is not released
// by its end. See the package comment for the errors.
func Acquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return AcquireSet(ctx, []string{address}, options...)
}

// AcquireSet is Acquire for several locks, of any kinds, all or none: one helper takes
// them without waiting in a circle with other sets. "shared:" or "exclusive:" before an
// address is for that lock, the option Shared for all others. The loss of one is the loss
// of all. At least one address is needed, at most 1,024 may be given; one that comes
// twice is taken once.
func AcquireSet(ctx context.Context, addresses []string, options ...Option) (*Lock, error) {
	c := &config{grace: defaultGrace, locks: addresses}
	for _, o := range options {
		o(c)
	}
	if c.policy == nil {
		return c.try(ctx, c.name())
	}
	return c.tryAgain(ctx, c.name())
}

// name is the lock, or the locks, in messages.
func (c *config) name() string {
	if n := len(c.locks); n > 3 {
		return fmt.Sprintf("%s + %s + %d more", c.locks[0], c.locks[1], n-2)
	}
	return strings.Join(c.locks, " + ")
}

// TryAcquire is Acquire that does not wait: ErrHeld if somebody has the lock.
func TryAcquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return Acquire(ctx, address, append(options[:len(options):len(options)], flag("--timeout", "0"))...)
}

// tryAgain waits as the policy says.
func (c *config) tryAgain(ctx context.Context, address string) (*Lock, error) {
	flag("--timeout", "0")(c)
	start := time.Now()
	for tries := 1; ; tries++ {
		lock, err := c.try(ctx, address)
		var held *HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		pause, ok := c.policy(tries, time.Since(start), held)
		if !ok {
			return nil, fmt.Errorf("%w: %w", ErrGaveUp, held)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, acquireError(ctx, address)
		}
	}
}

func (c *config) try(ctx context.Context, address string) (*Lock, error) {
	if ctx.Err() != nil {
		return nil, acquireError(ctx, address)
	}
	h, err := c.start(address)
	if err != nil {
		return nil, err
	}
	select {
	case first := <-h.lines:
		if first.err == nil && first.line.Word == protocol.WordOK {
			lock, err := newLock(ctx, address, h, first.line)
			if err == nil {
				return lock, nil
			}
			first.err = err
		}
		go h.discard()
		h.end()
		return nil, refusal(address, h, first)
	case <-ctx.Done():
		go h.discard()
		if !h.end() {
			return nil, fmt.Errorf("%w; the helper did not end in time and was killed: see locksmith status %s",
				acquireError(ctx, address), address)
		}
		return nil, acquireError(ctx, address)
	}
}

func acquireError(ctx context.Context, address string) error {
	return fmt.Errorf("%s: acquire: %w", address, context.Cause(ctx))
}

// refusal explains a first line that is not OK.
func refusal(address string, h *helper, first reading) error {
	switch {
	case errors.Is(first.err, io.EOF):
		return &ProtocolError{Lock: address, Helper: h.String(), Err: fmt.Errorf("it ended without a line (%v)", h.cmd.ProcessState)}
	case first.err != nil:
		return &ProtocolError{Lock: address, Helper: h.String(), Err: first.err}
	case first.line.Word != protocol.WordErr:
		return &ProtocolError{Lock: address, Helper: h.String(), Err: fmt.Errorf("its first line is %s", first.line.Word)}
	}
	code := protocol.Code(first.line.Value("code"))
	if code == protocol.Held || code == protocol.Timeout {
		return &HeldError{Lock: address, Code: code, Holder: protocol.ParseHolder(first.line), Text: first.line.Text}
	}
	return &HelperError{Lock: address, Code: code, Text: first.line.Text}
}
