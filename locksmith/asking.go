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

// An Answer is the parent's decision: to end the wait, to pause before the next try, or to wait as
// helpers do until another holder is seen. Then it is asked again after the pause at the latest; 0: not
// before.
type Answer struct {
	Ends  bool
	Usual bool
	Pause time.Duration
}

// An Asker decides how to wait.
type Asker interface {
	// Ask asks after a refusal. Its context ends with the wait.
	Ask(context.Context, Refusal) (Answer, error)
	// Listen is called once, before the first try. It has end called if the wait shall end though
	// nobody asked.
	Listen(end func())
}

// errEnd is the cause of a wait that ends because its parent said END.
var errEnd = errors.New("the parent said END")

// wish returns a context that ends with the client's, or with the wait that an Asker ends.
func (h *Helper) wish() (context.Context, context.CancelFunc) {
	if h.Asks == nil {
		return h.Client.Context(), func() {}
	}
	ctx, cancel := context.WithCancelCause(h.Client.Context())
	h.Asks.Listen(func() { cancel(errEnd) })
	return ctx, func() { cancel(nil) }
}

// Questions asks a parent, on the pipe on which it wants to be asked. Its lines have the grammar of
// the protocol:
//
//	BUSY tries=2 waited_ms=310 holder=… host=web3 pid=42 text=nfs:/db: held by …
//	PAUSE ms=500       or PAUSE usual=1 ms=60000, or END
type Questions struct {
	Pipe  *Pipe     // for the questions
	In    io.Reader // for the answers
	lines chan answered
}

type answered struct {
	line protocol.Line
	err  error
}

// Listen implements Asker: END counts without a question, too.
func (q *Questions) Listen(end func()) {
	q.lines = make(chan answered, 1)
	go q.read(end)
}

// Ask implements Asker.
func (q *Questions) Ask(ctx context.Context, r Refusal) (Answer, error) {
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
			return Answer{}, &AnswerError{onStdin, a.err}
		}
		return ParseAnswer(a.line, onStdin)
	}
}

// read has end called at END. It keeps two answers at most for which nobody has asked, and reads no
// further until somebody asks.
func (q *Questions) read(end func()) {
	r := protocol.NewReader(bufio.NewReader(q.In))
	for {
		line, err := r.Read()
		if err == nil && line.Word == protocol.WordEnd {
			end()
			return
		}
		q.lines <- answered{line, err}
		if err != nil && !errors.Is(err, protocol.ErrMalformed) {
			return
		}
	}
}

const onStdin = "the answer on standard input"

// ParseAnswer parses PAUSE and END. from says in an error whose answer it is.
func ParseAnswer(l protocol.Line, from string) (Answer, error) {
	if l.Word == protocol.WordEnd {
		return Answer{Ends: true}, nil
	}
	if l.Word != protocol.WordPause {
		return Answer{}, &AnswerError{from, fmt.Errorf("%s is neither PAUSE nor END", l.Word)}
	}
	pause, err := l.Millis("ms")
	if err != nil {
		return Answer{}, &AnswerError{from, err}
	}
	return Answer{Usual: pause == 0 || l.Value("usual") == "1", Pause: pause}, nil
}

// An AnswerError says that an answer of the parent cannot be understood.
type AnswerError struct {
	From string // whose answer
	Err  error
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%s: %v: --ask needs PAUSE ms=N, PAUSE usual=1 ms=N or END", e.From, e.Err)
}

func (e *AnswerError) Unwrap() error { return e.Err }

// restAsAsked waits as the client wants it, if it wants to be asked; else until another try is
// worth its cost.
func (w *waiting) restAsAsked(ctx context.Context) error {
	h := w.helper
	switch {
	case ctx.Err() != nil: // nobody wants an answer any more
		return ctx.Err()
	case h.Asks == nil || !w.behind.Answered() || w.isLeft():
		return w.rest(ctx)
	}
	w.asked++
	answer, err := h.Asks.Ask(ctx, Refusal{Tries: w.asked, Waited: h.Request.Clock.Now() - w.start, Held: w.behind})
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case answer.Ends:
		return w.once()
	case answer.Usual:
		w.left, w.leftTo, w.leftUntil = true, w.behind.Holder, 0
		if answer.Pause > 0 {
			w.leftUntil = h.Request.Clock.Now() + answer.Pause
		}
		return w.rest(ctx)
	}
	w.left = false
	return w.pause(ctx, answer.Pause)
}

// isLeft reports whether the client has left it to us to wait for this holder, and is not to be asked
// yet.
func (w *waiting) isLeft() bool {
	isOver := w.leftUntil > 0 && w.helper.Request.Clock.Now() >= w.leftUntil
	return w.left && !isOver && sameHolder(w.leftTo, w.behind.Holder)
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
