package term

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Messages are for people, from a process that must never wait for them. While it waited for a
// terminal that somebody stopped (Ctrl-S), or for a pipe that nobody reads, it would tend no
// lock. What is not written soon is written later, in order.
type Messages struct {
	Out     io.Writer
	begin   sync.Once
	queue   chan message
	pending atomic.Int32
}

type message struct {
	text []byte
	done chan struct{}
}

const (
	// maxMessages is how many wait for a reader that does not read. Others are left out.
	maxMessages = 64
	// soon is how long to wait for a message, so that it comes before what follows.
	soon = 20 * time.Millisecond
	// atLast is how long to wait in the end for those that are left.
	atLast = time.Second
)

// Write implements io.Writer. It never fails: nothing depends on a message.
func (m *Messages) Write(b []byte) (int, error) {
	m.begin.Do(func() {
		m.queue = make(chan message, maxMessages)
		go m.write()
	})
	m.pending.Add(1)
	next := message{bytes.Clone(b), make(chan struct{})}
	select {
	case m.queue <- next:
		await(next.done, soon)
	default:
		m.pending.Add(-1)
	}
	return len(b), nil
}

func (m *Messages) write() {
	for next := range m.queue {
		_, _ = m.Out.Write(next.text)
		m.pending.Add(-1)
		close(next.done)
	}
}

// Stuck reports whether there are messages which nobody reads.
func (m *Messages) Stuck() bool { return m.pending.Load() > 0 }

// Finish waits for a while until all is written. It is the last call.
func (m *Messages) Finish() {
	if !m.Stuck() {
		return
	}
	last := message{nil, make(chan struct{})}
	select {
	case m.queue <- last:
		await(last.done, atLast)
	case <-time.After(atLast):
	}
}

func await(done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
