package events

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"locksmith/protocol"
)

// A Writer appends events to a file, to which others may append as well. One goroutine at a time
// may use it. A write to a dead file server may hang.
type Writer struct {
	to   sink
	torn bool // the last write left only part of a line
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

// Read reads a file of events. Each line yields an event or an error that wraps
// ErrMalformed, and the next line follows. Any other error is from r, and is the last.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		b := bufio.NewReaderSize(r, protocol.MaxEvent)
		for n := 1; ; n++ {
			line, err := readLine(b)
			if err != nil && !errors.Is(err, ErrMalformed) {
				if err != io.EOF {
					yield(Event{}, err)
				}
				return
			}
			var e Event
			if err == nil && len(bytes.TrimSpace(line)) == 0 {
				continue
			} else if err == nil {
				e, err = Parse(line)
			}
			if err != nil {
				err = fmt.Errorf("line %d: %w", n, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// readLine returns the next line with its line feed. A line that is too long is read to its end.
// It is malformed, and so is a line that is cut short.
func readLine(b *bufio.Reader) ([]byte, error) {
	line, err := b.ReadSlice('\n')
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		_, err = b.ReadSlice('\n')
	}
	switch {
	case err == io.EOF && len(line) > 0:
		return nil, malformed("it is cut short")
	case err != nil:
		return nil, err
	case long:
		return nil, malformed("more than %d bytes", protocol.MaxEvent)
	}
	return line, nil
}
