package locksmith

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

// A Pipe is the Guard of a parent at the other end of a pipe.
type Pipe struct {
	Out    io.Writer
	Parent context.Context // from Watch.Start
	Beats  bool            // write BEAT lines
	Clock  clock.Clock
}

// Wanted implements Guard.
func (p *Pipe) Wanted() context.Context { return p.Parent }

// Waiting implements Guard: nothing may precede the first line.
func (p *Pipe) Waiting(*backend.HeldError) {}

// Start implements Guard.
func (p *Pipe) Start(g protocol.Grant) error {
	err := p.write(g.Line())
	if errors.Is(err, syscall.EPIPE) {
		return &CancelledError{Lock: g.Lock, Cause: ErrStdoutGone}
	}
	return err
}

// Beat implements Guard. A write that fails is no matter: the hang-up tells.
func (p *Pipe) Beat(ago time.Duration) {
	if p.Beats {
		_ = p.write(protocol.Beat(ago))
	}
}

// Lost implements Guard. While some of the lease is left, nobody who goes by it
// takes the lock, so the parent has that long to stop.
func (p *Pipe) Lost(loss *LossError) {
	_ = p.write(protocol.Failure(protocol.WordLost, loss.Code, loss.Error()))
	timer := p.Clock.NewTimer(loss.Left)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-p.Parent.Done():
	}
}

// Finish writes the last line, about what Helper.Run returned. A loss has been
// told already.
func (p *Pipe) Finish(held time.Duration, err error) {
	loss := (*LossError)(nil)
	switch {
	case err == nil:
		_ = p.write(protocol.Released(held))
	case !errors.As(err, &loss):
		_ = p.write(p.refusal(CodeOf(err), err))
	}
}

func (p *Pipe) refusal(code protocol.Code, err error) protocol.Line {
	l := protocol.Failure(protocol.WordErr, code, err.Error())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		return l
	}
	h := protocol.Holder{PID: held.Holder.PID, Age: held.Holder.Age, Heartbeat: held.Holder.Heartbeat}
	if r := held.Holder.Record; r != nil {
		h.ID, h.User, h.Host = r.ID, r.User, r.Place.Host
	}
	return h.Append(l)
}

func (p *Pipe) write(l protocol.Line) error {
	s, err := l.Format()
	if err != nil {
		return fmt.Errorf("write %s line: %w", l.Word, err)
	}
	if _, err := io.WriteString(p.Out, s); err != nil {
		return fmt.Errorf("write %s line to the parent: %w", l.Word, err)
	}
	return nil
}

// CodeOf returns the code that an error of Helper.Run stands for.
func CodeOf(err error) protocol.Code {
	var loss *LossError
	var timeout *TimeoutError
	var cancelled *CancelledError
	switch {
	case errors.As(err, &loss):
		return loss.Code
	case errors.As(err, &timeout):
		return protocol.Timeout
	case errors.As(err, &cancelled):
		return protocol.Cancelled
	}
	return backend.CodeOf(err)
}
