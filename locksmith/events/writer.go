package events

import (
	"fmt"
	"io"
)

// A Writer appends events to a file that others may append to as well. It is not
// for concurrent use. A write to a dead file server may hang.
type Writer struct {
	to   sink
	torn bool // part of a line was written last
}

// Write appends an event.
func (w *Writer) Write(e Event) error {
	line, err := e.Format()
	if err != nil {
		return err
	}
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.to.write(line)
	if n > 0 {
		w.torn = n < len(line)
	}
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// Close closes the file.
func (w *Writer) Close() error { return w.to.close() }
