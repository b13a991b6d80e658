package locksmith

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

// A Pipe is the Client for a parent at the other end of a pipe.
type Pipe struct {
	Out    io.Writer
	Parent context.Context // ends when the parent does not want the lock any more: from Watch.Start
	Beats  bool            // write BEAT lines
	Clock  clock.Clock
	Began  time.Duration // when the wait for the lock began, by Clock
	Number uint64        // of the request that all lines are about; 0: there is one life only

	written chan struct{} // closed when the last line was written; nil: there was no line
}

// How long the helper waits for a parent that does not read. The lock, and the parent's other
// ways to let go, matter more than the line.
const (
	beatTimeout = 20 * time.Millisecond
	lineTimeout = time.Second
)

// tell writes a line after the lines before it. If the parent does not read for too long, tell
// leaves the line to be written later. Lines keep the order of the calls, even if the machine
// stood still before the first write began.
func (p *Pipe) tell(l protocol.Line, timeout time.Duration) error {
	before, done := p.written, make(chan struct{})
	p.written = done
	return bounded(p.Clock, timeout, func(context.Context) error {
		defer close(done)
		if before != nil {
			<-before
		}
		return p.write(l)
	})
}

// Caught reports that a line still waits for the parent to read.
func (p *Pipe) Caught() bool { return p.isWriting() }

// Say writes a line that is no answer of a life, such as READY.
func (p *Pipe) Say(l protocol.Line) error { return p.tell(l, lineTimeout) }

// isWriting reports whether a line still waits for the parent to read.
func (p *Pipe) isWriting() bool {
	if p.written == nil {
		return false
	}
	select {
	case <-p.written:
		return false
	default:
		return true
	}
}

// Context implements Client.
func (p *Pipe) Context() context.Context { return p.Parent }

// Waiting implements Client: nothing may precede the first line.
func (p *Pipe) Waiting(*backend.HeldError) {}

// Start implements Client. If the parent does not read yet, it finds the line later. Meanwhile
// the lock is tended, and given up when the parent ends.
func (p *Pipe) Start(g protocol.Grant) error {
	err := p.tell(g.Line(), min(lineTimeout, g.Lease/8))
	switch {
	case errors.Is(err, errNoReader):
		return &CancelledError{Lock: g.Lock, Cause: ErrStdoutGone}
	case errors.Is(err, backend.ErrNoAnswer):
		return nil
	}
	return err
}

// Beat implements Client. A write that fails does not matter: the hang-up is noticed elsewhere.
// While another line waits to be read, Beat writes nothing, because the beat would be outdated.
func (p *Pipe) Beat(ago time.Duration) {
	if !p.Beats || p.isWriting() {
		return
	}
	_ = p.tell(protocol.Beat(ago), beatTimeout)
}

// Lost implements Client. While some of the lease is left, nobody who goes by the lease takes the
// lock, so the parent has that long to stop.
func (p *Pipe) Lost(ctx context.Context, loss *LossError) {
	_ = p.tell(protocol.Failure(protocol.WordLost, loss.Code, protocol.ErrorText(loss)), lineTimeout)
	waits, cancel := context.WithCancel(p.Parent)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	clock.Sleep(waits, p.Clock, loss.Left)
}

// Finish writes the last line, about what Helper.Run returned. It writes nothing about a loss,
// which Lost has told.
func (p *Pipe) Finish(held time.Duration, err error) {
	switch {
	case err == nil:
		_ = p.tell(p.released(held), lineTimeout)
	case asLoss(err) == nil:
		_ = p.tellOfHolder(p.failure(err), err)
	}
}

// tellOfHolder writes a line with what err says of the holder. If it cannot be written so, because
// what the holder says of itself is too long, it is written without. If the parent does not read
// yet, that is no error, because the parent finds the line later.
func (p *Pipe) tellOfHolder(line protocol.Line, err error) error {
	told := p.tell(describeHolder(line, err), lineTimeout)
	if told == nil || errors.Is(told, backend.ErrNoAnswer) {
		return nil
	}
	return p.tell(line, lineTimeout)
}

// released is the last line of a lock that was held. A helper that serves one lock after another has no
// exit status for each, so the line says if a signal was the reason, and not the parent.
func (p *Pipe) released(held time.Duration) protocol.Line {
	line := protocol.Released(held)
	if _, bySignal := errors.AsType[*SignalError](context.Cause(p.Parent)); bySignal && p.Number > 0 {
		line = line.WithEarly()
	}
	return line
}

// failure is the line of an error, without what is known about the holder.
func (p *Pipe) failure(err error) protocol.Line {
	code := CodeOf(err)
	line := protocol.Failure(protocol.WordErr, code, protocol.ErrorText(err))
	if code.Exit() == protocol.Held.Exit() {
		line = line.WithWaited(p.Clock.Now() - p.Began)
	}
	if c, ok := errors.AsType[*CancelledError](err); ok && c.Held != nil {
		line = line.With("held", "1")
		if errors.Is(c.Cause, ErrStdinClosed) || errors.Is(c.Cause, ErrLetGo) { // whoever closed it knows
			line = line.WithText(c.Held.Error())
		}
	}
	return line
}

func describeHolder(l protocol.Line, err error) protocol.Line {
	var held *backend.HeldError
	if !errors.As(err, &held) {
		return l
	}
	h := protocol.Holder{PID: held.Holder.PID, Age: held.Holder.Age, Heartbeat: held.Holder.Heartbeat}
	if r := held.Holder.Record; r != nil {
		h.ID, h.User, h.Host, h.Program = r.ID, r.User, r.Place.Host, r.Program
	}
	return h.Append(l)
}

func (p *Pipe) write(l protocol.Line) error {
	s, err := l.WithNumber(p.Number).Format()
	if err != nil {
		return fmt.Errorf("write %s line: %w", l.Word, err)
	}
	if _, err := io.WriteString(p.Out, s); err != nil {
		return fmt.Errorf("write %s line to the parent: %w", l.Word, err)
	}
	return nil
}
