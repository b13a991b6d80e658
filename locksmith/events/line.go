package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"locksmith/protocol"
)

// ErrMalformed is wrapped by every error that says that a line is not an event.
var ErrMalformed = errors.New("malformed event")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

// Format returns the event's line with its line feed. If a set is too large for one line, Format
// leaves out what the package's comment says. If Parse would refuse the event, Format does so,
// too, with an error that wraps ErrMalformed.
func (e Event) Format() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if len(e.Tokens) > 0 && slices.Max(e.Tokens) == 0 {
		e.Tokens = nil
	}
	line, err := e.encode()
	for len(line) > protocol.MaxEvent && e.isSet() && (e.ID != "" || len(e.Locks) > 1) {
		if e.ID == "" {
			e = e.first(max(1, min(len(e.Locks)-1, len(e.Locks)*protocol.MaxEvent/len(line))))
		}
		e.ID = ""
		line, err = e.encode()
	}
	if err == nil && len(line) > protocol.MaxEvent {
		err = malformed("%d bytes, the most is %d", len(line), protocol.MaxEvent)
	}
	if err != nil {
		return nil, err
	}
	return line, nil
}

// encode returns the line, however long it is.
func (e Event) encode() ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, malformed("%w", err)
	}
	return line.Bytes(), nil
}

// first is the event with only the first n locks.
func (e Event) first(n int) Event {
	e.More += len(e.Locks) - n
	e.Locks = e.Locks[:n]
	if e.Modes != nil {
		e.Modes = e.Modes[:n]
	}
	if e.Tokens != nil {
		e.Tokens = e.Tokens[:n]
	}
	return e
}

// Parse parses one line, with or without its line feed. Its errors wrap ErrMalformed.
func Parse(text []byte) (e Event, err error) {
	if len(bytes.TrimSuffix(text, []byte{'\n'}))+1 > protocol.MaxEvent {
		return Event{}, malformed("more than %d bytes", protocol.MaxEvent)
	}
	if !utf8.Valid(text) {
		return Event{}, malformed("not UTF-8")
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return Event{}, malformed("not the JSON of an event: %w", err)
	}
	return e, e.check()
}
