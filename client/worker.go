package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"locksmith/protocol"
)

// A worker is a helper that serves one lock after another (hold --again).
type worker struct {
	pool    *Pool
	process *helper
	born    time.Time

	mu     sync.Mutex
	served int
	seat   *helper // the helper of the acquisition that it serves; nil: it waits
	number uint64  // of that acquisition
	begun  chan protocol.Line
	ended  bool // its output has ended, or its input
}

// A serving is one lock that a worker serves. The helper of a lock has a serving if its process is a
// worker, and none if it has a process of its own.
type serving struct {
	worker  *worker
	number  uint64
	over    bool // its last line has come; guarded by the worker's mutex
	granted bool
}

var (
	// errOnlyOne says that the helper's program cannot serve several locks.
	errOnlyOne = errors.New("it serves one lock only")
	// errNotHere says that the request needs a process of its own.
	errNotHere = errors.New("it needs a helper of its own")
	// errEnded says that a worker has ended while it waited.
	errEnded = errors.New("it has ended")
	// errNotBegun says that a worker did not begin in time, and has been ended.
	errNotBegun = errors.New("it did not begin")
)

// newWorker waits until the helper is ready.
func newWorker(p *Pool, h *helper) (_ *worker, err error) {
	err = errNotBegun
	late := time.NewTimer(h.grace)
	defer late.Stop()
	select {
	case first := <-h.lines:
		switch {
		case first.err == nil && first.line.Word == protocol.WordReady:
			w := &worker{pool: p, process: h, born: time.Now()}
			go w.listen()
			return w, nil
		case first.err != nil || first.line.Value("code") == string(protocol.Usage):
			err = errOnlyOne
		}
	case <-late.C:
	}
	go h.discard()
	go h.end(begins)
	return nil, err
}

// listen hands each line of the helper to the acquisition that it is about.
func (w *worker) listen() {
	for r := range w.process.lines {
		if r.err != nil {
			w.end(r.err)
			return
		}
		w.hand(r.line)
	}
}

// hand hands one line on. A line about another acquisition than the present one means nothing.
func (w *worker) hand(line protocol.Line) {
	w.mu.Lock()
	seat, begun := w.seat, w.begun
	mine := seat != nil && line.Number() == w.number
	if mine && begun != nil {
		w.begun = nil
		begun <- line
	}
	w.mu.Unlock()
	if !mine || line.Word == protocol.WordBegun || line.NeedsOwn() && begun != nil {
		return
	}
	seat.lines <- reading{line: line}
	if line.Word != protocol.WordErr && line.Word != protocol.WordReleased {
		return
	}
	w.mu.Lock()
	w.seat, seat.serving.over = nil, true
	w.mu.Unlock()
	w.pool.put(w)
	seat.finish(nil)
}

// finish ends the lines of one acquisition; err is nil after a last line.
func (h *helper) finish(err error) {
	close(h.exited)
	if err != nil {
		h.lines <- reading{err: err}
	}
	close(h.lines)
}

// end is called at the end of the helper's output.
func (w *worker) end(err error) {
	w.pool.drop(w)
	w.mu.Lock()
	seat := w.seat
	w.seat, w.ended = nil, true
	if seat != nil {
		seat.serving.over = true
	}
	begun := w.begun
	w.begun = nil
	w.mu.Unlock()
	if begun != nil {
		close(begun)
	}
	_ = w.process.stdin.Close()
	if seat != nil {
		select {
		case <-w.process.exited: // then the helper is dead by proof
		case <-time.After(2 * time.Second):
		}
		seat.finish(err)
	}
}

// isWorn reports whether the worker has served for long enough.
func (w *worker) isWorn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended || w.served >= mostServed || time.Since(w.born) > longestServed
}

// retire lets a worker end that has no lock, in the background. One that is stopped is killed.
func (w *worker) retire() { go w.process.end(begins) }

// serve lets the worker begin an acquisition. At the end of ctx nobody knows whether it has begun.
func (w *worker) serve(ctx context.Context, args []string, grace time.Duration) (*helper, error) {
	w.mu.Lock()
	w.served++
	w.number++
	n := w.number
	line, err := protocol.Request{Word: protocol.WordAcquire, Number: n, Args: args}.Line().Format()
	if err != nil || w.ended {
		w.mu.Unlock()
		if err != nil { // the request is too long, or no text
			return nil, errNotHere
		}
		return nil, errEnded
	}
	p := w.process
	h := &helper{begun: time.Now(), cmd: p.cmd, program: p.program, stdin: p.stdin, stdout: p.stdout, lines: make(chan reading, 1), exited: make(chan struct{}), grace: grace,
		serving: &serving{worker: w, number: n}}
	begun := make(chan protocol.Line, 1)
	w.seat, w.begun = h, begun
	w.mu.Unlock()
	if _, err := p.stdin.WriteString(line); err != nil {
		go h.discard()
		go w.giveUp(begun)
		return nil, errEnded
	}
	switch ok, answered := hear(ctx, begun, begins, looksAgain); {
	case answered && ok.NeedsOwn():
		w.mu.Lock()
		w.seat = nil
		w.mu.Unlock()
		return nil, errNotHere
	case answered:
		return h, nil
	case ctx.Err() != nil: // what the worker says still ends the acquisition
		w.mu.Lock()
		w.begun = nil
		w.mu.Unlock()
		return h, nil
	}
	go h.discard()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.giveUp(begun)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
	return nil, errNotBegun
}

// hear waits for an answer of the helper until ctx ends, for each of these times in turn. At the end
// of one, it may be this process that did not run: then the answer comes within the next.
func hear[T any](ctx context.Context, answers <-chan T, times ...time.Duration) (answer T, answered bool) {
	for _, d := range times {
		late := time.NewTimer(d)
		defer late.Stop()
		select {
		case answer, answered = <-answers: // closed at the end of the helper's output
			return answer, answered
		case <-late.C:
		case <-ctx.Done():
			return answer, false
		}
	}
	return answer, false
}

// giveUp ends a worker that has not begun what it was asked for. With its input closed the worker
// does not begin any more. A worker that began at the last moment runs, and may have the lock: it
// releases the lock by itself; after a kill, others would wait for the lease. Any other worker is
// killed.
func (w *worker) giveUp(begun <-chan protocol.Line) {
	w.mu.Lock()
	w.ended = true // the worker serves nobody else
	w.mu.Unlock()
	p := w.process
	_ = p.stdin.Close()
	if _, late := hear(context.Background(), begun, looksAgain); late {
		p.end(p.grace)
		return
	}
	p.kill()
}

// letGo tells the helper that its lock is not wanted any more.
func (h *helper) letGo() {
	s := h.serving
	if s == nil {
		_ = h.stdin.Close()
		return
	}
	s.worker.mu.Lock()
	defer s.worker.mu.Unlock()
	if s.over {
		return
	}
	word := protocol.WordCancel
	if s.granted {
		word = protocol.WordRelease
	}
	line, err := protocol.Request{Word: word, Number: s.number}.Line().Format()
	if err == nil {
		_, _ = h.stdin.WriteString(line)
	}
}

// hurry bounds the wait for the helper's lines, if they come from a process of its own: what that
// process leaves running may keep the pipe.
func (h *helper) hurry(until time.Time) {
	if h.serving == nil {
		_ = h.stdout.SetReadDeadline(until)
	}
}
