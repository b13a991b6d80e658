package locksmith

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"locksmith/protocol"
)

// Requests are the requests of a parent that has one helper serve one acquisition after another.
// A goroutine reads them, so that the helper hears a cancellation while it waits for the lock.
type Requests struct {
	in     *os.File
	reader *protocol.Reader
	parent context.Context // ends with the parent's wish for anything

	next chan *Asked // closed after the last one
	err  error       // why the last one was the last; read it after next is closed

	mu     sync.Mutex
	latest *Asked
}

// An Asked is one acquisition that the parent asks for.
type Asked struct {
	Number  uint64
	Args    []string
	Context context.Context // ends when the acquisition is not wanted any more
	end     context.CancelCauseFunc
	over    bool // its last answer is out
}

// ErrLetGo is the cause of the end of a request's context when the parent has let go.
var ErrLetGo = errors.New("the parent let go")

// ReadRequests begins to read. parent ends when the parent has hung up or died.
func ReadRequests(parent context.Context, in *os.File) (*Requests, error) {
	if _, err := readable(in); err != nil {
		return nil, err
	}
	r := &Requests{in: in, reader: protocol.NewReader(in), parent: parent, next: make(chan *Asked, 1)}
	go r.read()
	return r, nil
}

// Next returns the next acquisition that the parent asks for. Its context has ended already if
// the parent does not want it any more: Next reads all that is there to find out. So a helper
// that was stopped for an hour begins nothing that nobody waits for. nil is the end; the error is
// nil if the parent ended it.
func (r *Requests) Next() (*Asked, error) {
	select {
	case a, ok := <-r.next:
		if !ok {
			return nil, r.err
		}
		return a, nil
	case <-r.parent.Done():
		return nil, nil
	}
}

// Over says that the last answer to a request is going out: another may come.
func (r *Requests) Over(a *Asked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.over = true
	a.end(ErrLetGo)
}

func (r *Requests) read() {
	defer close(r.next)
	var fresh *Asked
	for {
		// A request that has been read begins only if nothing more is there.
		for fresh != nil && !r.reader.Buffered() {
			more, err := readable(r.in)
			if err != nil {
				r.stop(err)
				return
			}
			if more {
				break
			}
			r.next <- fresh
			fresh = nil
		}
		line, err := r.reader.Read()
		if err == nil {
			fresh, err = r.take(line, fresh)
		}
		if err != nil {
			r.stop(err)
			return
		}
	}
}

// take acts on one line. fresh is an acquisition that has not begun.
func (r *Requests) take(line protocol.Line, fresh *Asked) (*Asked, error) {
	q, err := protocol.ParseRequest(line)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.Word != protocol.WordAcquire {
		if r.latest != nil && r.latest.Number == q.Number {
			r.latest.end(ErrLetGo)
		}
		return fresh, nil // the request is over: this line has crossed with the answer
	}
	if r.latest != nil && !r.latest.over {
		return nil, fmt.Errorf("%w: ACQUIRE n=%d before the last answer to n=%d", protocol.ErrMalformed, q.Number, r.latest.Number)
	}
	a := &Asked{Number: q.Number, Args: q.Args}
	a.Context, a.end = context.WithCancelCause(r.parent)
	r.latest = a
	return a, nil
}

// stop ends what is asked for, at the end of the requests or when they cannot be read.
func (r *Requests) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest != nil {
		r.latest.end(ErrStdinClosed)
	}
	if errors.Is(err, protocol.ErrMalformed) {
		r.err = err
	}
}
