package cli

import (
	"fmt"
	"os"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// A waitLine tells people at run who holds the lock: on a terminal as one live
// line while we are in its foreground, elsewhere once.
type waitLine struct {
	terminal *os.File
	out      *messages // to it
	width    int       // of the terminal; 0: not one

	mu    sync.Mutex
	held  *backend.HeldError
	since time.Time // held was seen
	told  bool
	stop  chan struct{} // non-nil while the line is drawn
}

func newWaitLine(terminal *os.File, out *messages) *waitLine {
	w := &waitLine{terminal: terminal, out: out}
	if width, _, ok := terminalSize(terminal); ok {
		w.width = max(width, 20)
	}
	return w
}

// show takes news of the holder, or nil when the wait is over.
func (w *waitLine) show(held *backend.HeldError) {
	if held == nil {
		w.clear()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.since = held, time.Now()
	if !w.told && (w.width == 0 || w.inBackground()) {
		fmt.Fprintf(w.out, "locksmith: waiting: %s\n", protocol.CleanText(held.Error(), protocol.MaxLine))
	}
	if w.width > 0 && w.stop == nil {
		w.stop = make(chan struct{})
		go w.redraw(w.stop)
	}
	w.told = true
}

// inBackground reports that another job has the terminal, whose lines are not ours
// to write over.
func (w *waitLine) inBackground() bool {
	ours, known := hasForeground(w.terminal)
	return known && !ours
}

func (w *waitLine) redraw(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		w.draw(stop)
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
	}
}

func (w *waitLine) draw(stop <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-stop:
		return
	default:
	}
	if w.out.stuck() || w.inBackground() {
		return
	}
	held, passed := *w.held, time.Since(w.since)
	held.Holder.Age += passed
	held.Holder.Heartbeat = 0 // grows stale while we sleep
	text := []rune("waiting for " + protocol.CleanText(held.Error(), protocol.MaxLine))
	text = text[:min(len(text), w.width-1)]
	fmt.Fprintf(w.out, "\r\x1b[K%s", string(text))
}

// clear removes the line.
func (w *waitLine) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		return
	}
	close(w.stop)
	w.stop = nil
	if !w.inBackground() {
		fmt.Fprint(w.out, "\r\x1b[K")
	}
}
