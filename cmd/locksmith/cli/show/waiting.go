package show

import (
	"fmt"
	"os"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/term"
)

// A WaitLine tells people who wait who holds the lock: on a terminal as one live
// line while we are in its foreground, elsewhere once.
type WaitLine struct {
	terminal *os.File
	out      *term.Messages // to the terminal
	width    int            // of the terminal; 0: not one

	mu    sync.Mutex
	held  *backend.HeldError
	since time.Time // held was seen
	told  bool
	stop  chan struct{} // non-nil while the line is drawn
}

// NewWaitLine is for this terminal, or what stands in for one. Its lines go through out.
func NewWaitLine(terminal *os.File, out *term.Messages) *WaitLine {
	w := &WaitLine{terminal: terminal, out: out}
	if width, _, ok := term.Size(terminal); ok {
		w.width = max(width, 20)
	}
	return w
}

// Show takes news of the holder, or nil when the wait is over.
func (w *WaitLine) Show(held *backend.HeldError) {
	if held == nil {
		w.Clear()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.since = held, time.Now()
	if !w.told && (w.width == 0 || w.inBackground()) {
		fmt.Fprintf(w.out, "locksmith: waiting: %s\n", Text(held.Error()))
	}
	if w.width > 0 && w.stop == nil {
		w.stop = make(chan struct{})
		go w.redraw(w.stop)
	}
	w.told = true
}

// inBackground reports that another job has the terminal, whose lines are not ours
// to write over.
func (w *WaitLine) inBackground() bool {
	ours, known := term.Foreground(w.terminal)
	return known && !ours
}

func (w *WaitLine) redraw(stop <-chan struct{}) {
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

func (w *WaitLine) draw(stop <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-stop:
		return
	default:
	}
	if w.out.Stuck() || w.inBackground() {
		return
	}
	held, passed := *w.held, time.Since(w.since)
	held.Holder.Age += passed
	held.Holder.Heartbeat = 0 // grows stale while we sleep
	text := []rune("waiting for " + Text(held.Error()))
	text = text[:min(len(text), w.width-1)]
	fmt.Fprintf(w.out, "\r\x1b[K%s", string(text))
}

// Clear removes the line.
func (w *WaitLine) Clear() {
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
