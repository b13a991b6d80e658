package show

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/cmd/locksmith/cli/term"
)

// A WaitLine tells people who wait who holds the lock. On a terminal it is one live line while
// we are in its foreground. Elsewhere it is told after a second, and then after 1, 2, 4, … minutes,
// so that the log of a job that hangs explains itself. Most waits end before that second, and to
// find out who holds the lock would be most of what they cost. If the lock's place does not answer,
// that is told at once. A nil WaitLine tells nothing.
type WaitLine struct {
	terminal *os.File
	out      messages
	width    int  // of the terminal; 0: there is none
	atOnce   bool // tell where nothing is drawn, too, without a second's pause
	stuck    bool // tell only of a wait that nothing is going to end, and only once

	mu    sync.Mutex
	held  *backend.HeldError
	since time.Time     // when held was seen
	stop  chan struct{} // non-nil during the wait
	// told: a line of its own was written in this wait. troubled: the lock's place did not
	// answer in this wait.
	told, troubled bool
}

// messages are term.Messages.
type messages interface {
	io.Writer
	Stuck() bool
}

// NewWaitLine is for this terminal, or what stands in for one, or nil. Its lines go through out.
func NewWaitLine(terminal *os.File, out messages) *WaitLine {
	w := &WaitLine{terminal: terminal, out: out}
	if width, _, ok := term.Size(terminal); ok {
		w.width = max(width, 20)
	}
	return w
}

// Draws reports whether the line is drawn on a terminal, and is to be removed from there.
func (w *WaitLine) Draws() bool { return w != nil && w.width > 0 }

// AtOnce tells of a wait at once, where nothing is drawn, too: for programs that read it.
func (w *WaitLine) AtOnce() {
	if w != nil {
		w.atOnce = true
	}
}

// OnlyStuck leaves out all waits but those that nothing is going to end.
func (w *WaitLine) OnlyStuck() { w.stuck = true }

// Show takes news of the holder, or nil when the wait is over.
func (w *WaitLine) Show(held *backend.HeldError) {
	if w == nil || held == nil {
		w.Clear()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stuck && !condition.IsStuck(held) {
		return
	}
	w.held, w.since = held, time.Now()
	trouble := !held.Answered() && !w.troubled
	w.troubled = w.troubled || trouble
	if w.stop == nil {
		w.stop = make(chan struct{})
		switch {
		case w.stuck:
			w.say("waiting")
			return
		case w.width > 0:
			go w.redraw(w.stop)
		default:
			go w.remind(w.stop, w.since)
		}
		if w.atOnce || w.width > 0 && w.inBackground() {
			w.say("waiting")
			return
		}
	}
	if trouble && (w.width == 0 || w.told) {
		w.say("waiting")
	}
}

// say writes a line of its own.
func (w *WaitLine) say(what string) {
	held := *w.held
	if time.Since(w.since) >= time.Second {
		held = w.now()
	}
	w.told = true
	fmt.Fprintf(w.out, "locksmith: %s: %s\n", what, Text(held.Error()))
}

// now is the holder without its heartbeat, because there may be newer ones.
func (w *WaitLine) now() backend.HeldError {
	held := *w.held
	if held.Holder.Age > 0 { // else the age is not known
		held.Holder.Age += time.Since(w.since)
	}
	held.Holder.Heartbeat = 0
	return held
}

// longWait is how long a wait is of which a program's log tells.
const longWait = time.Second

// remind tells of a long wait, and again, each time twice as late.
func (w *WaitLine) remind(stop <-chan struct{}, began time.Time) {
	what := "waiting"
	for next := longWait; ; next = max(2*next, time.Minute) {
		timer := time.NewTimer(next - time.Since(began))
		select {
		case <-stop:
			timer.Stop()
			return
		case <-timer.C:
		}
		if next > longWait {
			what = "still waiting after " + next.String()
		}
		w.mu.Lock()
		if w.stop != nil && !(next == longWait && w.told) {
			w.say(what)
		}
		w.mu.Unlock()
	}
}

// inBackground reports whether another job has the terminal. Then we do not write over its
// lines.
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
	held := w.now()
	text := []rune("waiting for " + Text(held.Error()))
	text = text[:min(len(text), w.width-1)]
	fmt.Fprintf(w.out, "\r\x1b[K%s", string(text))
}

// Clear ends the wait, and removes the line.
func (w *WaitLine) Clear() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		return
	}
	close(w.stop)
	w.stop, w.told, w.troubled = nil, false, false
	if w.width > 0 && !w.stuck && !w.inBackground() {
		fmt.Fprint(w.out, "\r\x1b[K")
	}
}
