package term

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Messages are for people, from a process that must never wait for them: while it
// waits for a terminal that somebody stopped (Ctrl-S), or for a pipe that nobody reads,
// it would tend no lock. What is not written soon is written later, in order.
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
	// maxMessages is how many wait for who does not read; others are left out.
	maxMessages = 64
	// soon is how long a message is waited for, so that it comes before what follows.
	soon = 20 * time.Millisecond
	// atLast is how long we wait for those that are left, in the end.
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

// Stuck reports that there are messages which nobody reads.
func (m *Messages) Stuck() bool { return m.pending.Load() > 0 }

// Finish waits until all is written, for a while. It is the last call.
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
