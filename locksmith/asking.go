package locksmith

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

// A Refusal is what a parent that decides how to wait is told.
type Refusal struct {
	Tries  int
	Waited time.Duration
	Held   *backend.HeldError
}

// An Answer is the parent's decision: to end the wait, to pause before the next try, or, with a
// pause of 0, to wait as helpers do until another holder is seen.
type Answer struct {
	Ends  bool
	Pause time.Duration
}

// Questions asks a parent, on the pipe on which it wants to be asked. Its lines have the grammar of
// the protocol:
//
//	BUSY tries=2 waited_ms=310 holder=… host=web3 pid=42 text=nfs:/db: held by …
//	PAUSE ms=500       or END
type Questions struct {
	Pipe  *Pipe     // for the questions
	In    io.Reader // for the answers
	lines chan answered
}

type answered struct {
	line protocol.Line
	err  error
}

// Ask implements Helper.Ask.
func (q *Questions) Ask(ctx context.Context, r Refusal) (Answer, error) {
	if q.lines == nil {
		q.lines = make(chan answered)
		go q.read()
	}
	line := protocol.Line{Word: protocol.WordBusy}.WithText(r.Held.Error()).Count("tries", r.Tries).WithWaited(r.Waited)
	if err := q.Pipe.tellOfHolder(line, r.Held); err != nil {
		return Answer{}, err
	}
	select {
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	case a := <-q.lines:
		if errors.Is(a.err, io.EOF) { // the parent's hang-up ends ctx
			<-ctx.Done()
			return Answer{}, ctx.Err()
		}
		if a.err != nil {
			return Answer{}, &AnswerError{a.err}
		}
		return parseAnswer(a.line)
	}
}

// read reads ahead by no more than a line.
func (q *Questions) read() {
	r := protocol.NewReader(bufio.NewReader(q.In))
	for {
		line, err := r.Read()
		q.lines <- answered{line, err}
		if err != nil && !errors.Is(err, protocol.ErrMalformed) {
			return
		}
	}
}

func parseAnswer(l protocol.Line) (Answer, error) {
	switch l.Word {
	case protocol.WordEnd:
		return Answer{Ends: true}, nil
	case protocol.WordPause:
		pause, err := l.Millis("ms")
		if err != nil {
			return Answer{}, &AnswerError{err}
		}
		return Answer{Pause: pause}, nil
	}
	return Answer{}, &AnswerError{fmt.Errorf("%s is neither PAUSE nor END", l.Word)}
}

// An AnswerError says that an answer of the parent cannot be understood.
type AnswerError struct{ Err error }

func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer on standard input: %v: --ask needs PAUSE ms=N or END", e.Err)
}

func (e *AnswerError) Unwrap() error { return e.Err }

// restAsAsked waits as the client wants it, if it wants to be asked; else until another try is
// worth its cost.
func (w *waiting) restAsAsked(ctx context.Context) error {
	h := w.helper
	if h.Ask == nil || !w.behind.Answered() || w.left && sameHolder(w.leftTo, w.behind.Holder) {
		return w.rest(ctx)
	}
	w.asked++
	answer, err := h.Ask(ctx, Refusal{Tries: w.asked, Waited: h.Request.Clock.Now() - w.start, Held: w.behind})
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case answer.Ends:
		return w.once()
	}
	if w.left, w.leftTo = answer.Pause == 0, w.behind.Holder; w.left {
		return w.rest(ctx)
	}
	return w.pause(ctx, answer.Pause)
}

// pause pauses, and keeps the place in the queue meanwhile, as far as the kind of lock can.
func (w *waiting) pause(ctx context.Context, d time.Duration) error {
	c := w.helper.Request.Clock
	until := c.Now() + d
	limited, cancel := clock.WithTimeout(ctx, c, d)
	defer cancel()
	return w.waitUntil(ctx, limited, until)
}

// sameHolder reports whether nothing tells one holder from the other. Scripts have no id.
func sameHolder(a, b backend.Holder) bool {
	return idOf(a) == idOf(b) && (idOf(a) != "" || a.PID == b.PID)
}

func idOf(h backend.Holder) string {
	if h.Record == nil {
		return ""
	}
	return h.Record.ID
}
