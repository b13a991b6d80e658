package term

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
)

// What terminals understand (ECMA-48, and xterm's second screen).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // and hide the cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	newLine     = "\x1b[K\r\n" // and clear the rest of the line
	endOfScreen = "\x1b[K\x1b[J"
)

// A Screen is a terminal that is drawn again and again, in place: a title, an empty line, and
// lines. Ctrl-Z stops the process, and leaves the terminal to others meanwhile.
type Screen struct {
	out  *os.File
	stop chan struct{}

	mu    sync.Mutex
	lines []string
}

// CanRedraw reports whether a file is a terminal that a Screen can be on.
func CanRedraw(f *os.File) bool {
	return Is(f) && os.Getenv("TERM") != "dumb"
}

// NewScreen begins to draw on a terminal, until Close.
func NewScreen(out *os.File) *Screen {
	s := &Screen{out: out, stop: make(chan struct{})}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, resized, toStop)
	_, _ = io.WriteString(out, enterScreen)
	go s.obey(signals)
	return s
}

// obey draws again when the terminal has another size, or is ours again.
func (s *Screen) obey(signals chan os.Signal) {
	for {
		select {
		case <-s.stop:
			signal.Stop(signals)
			return
		case got := <-signals:
			s.mu.Lock()
			if got == toStop {
				_, _ = io.WriteString(s.out, leaveScreen)
				stopUs()
				_, _ = io.WriteString(s.out, enterScreen)
			}
			_ = s.draw()
			s.mu.Unlock()
		}
	}
}

// Show replaces what is shown.
func (s *Screen) Show(title string, lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append([]string{title, ""}, lines...)
	return s.draw()
}

func (s *Screen) draw() error {
	width, height := 80, 24
	if w, h, ok := Size(s.out); ok && w > 0 && h > 0 {
		width, height = w, h
	}
	_, err := io.WriteString(s.out, home+strings.Join(fit(s.lines, width, height), newLine)+endOfScreen)
	return err
}

// Close brings back what was on the terminal before. It first waits until no signal is being
// obeyed, so nothing is drawn afterwards.
func (s *Screen) Close() {
	s.stop <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, leaveScreen)
}

// fit makes lines fit. Long ones go on in the next line, and of too many the last are only
// counted. The last column stays free, because terminals differ in what follows it.
func fit(lines []string, width, height int) []string {
	width = max(width-1, 1)
	rows := wrap(lines, width)
	if len(rows) > height && height < 4 {
		rows = wrap(lines[min(len(lines), 2):], width) // leave out the title
	}
	if len(rows) <= max(height, 1) {
		return rows
	}
	if height <= 1 {
		return rows[:1]
	}
	more := fmt.Sprintf("… and %d lines more", len(rows)-height+1)
	return append(rows[:height-1], wrap([]string{more}, width)[0])
}

func wrap(lines []string, width int) (rows []string) {
	for _, line := range lines {
		rest := []rune(line)
		for len(rest) > width {
			rows, rest = append(rows, string(rest[:width])), rest[width:]
		}
		rows = append(rows, string(rest))
	}
	return rows
}
