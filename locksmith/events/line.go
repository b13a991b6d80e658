package events

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
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
	line, err := e.encode()
	if len(line) > protocol.MaxEvent && e.isSet() {
		line, err = e.shortened().encode()
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
	if err := enc.Encode(e.line()); err != nil {
		return nil, malformed("%w", err)
	}
	return line.Bytes(), nil
}

// shortened is the event of a set without id, and with as many locks as fit into a line.
func (e Event) shortened() Event {
	e.ID = ""
	n := sort.Search(len(e.Locks), func(n int) bool {
		line, _ := e.first(n + 1).encode()
		return len(line) > protocol.MaxEvent
	})
	return e.first(max(n, 1))
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
func Parse(text []byte) (Event, error) {
	if len(bytes.TrimSuffix(text, []byte{'\n'}))+1 > protocol.MaxEvent {
		return Event{}, malformed("more than %d bytes", protocol.MaxEvent)
	}
	if !utf8.Valid(text) {
		return Event{}, malformed("not UTF-8")
	}
	values, err := object(text)
	if err != nil {
		return Event{}, err
	}
	var l line
	if err := take(values, &l); err != nil {
		return Event{}, err
	}
	e := l.event()
	return e, e.check()
}

// object returns the members of the one JSON object in a line.
func object(line []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, malformed("not a JSON object")
	}
	values := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, malformed("%w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, malformed("%w", err)
		}
		name := key.(string) // the decoder returns only strings as keys
		if _, twice := values[name]; twice {
			return nil, malformed("%.40q comes twice", name)
		}
		values[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, malformed("it is cut short")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed("something comes after the object")
	}
	return values, nil
}

// take moves the values of members to the fields of a line. Unmarshal alone would take a key in any
// case of letters, null for any value, and zero for what is missing.
func take(values map[string]json.RawMessage, l *line) (err error) {
	foreign := ""
	l.fields(func(key string, may, must bool, v reflect.Value) {
		switch raw, given := values[key]; {
		case err != nil, !given && !must:
		case !given:
			err = malformed("%s is missing", key)
		case !may:
			foreign = cmp.Or(foreign, key)
		case string(raw) == "null":
			err = malformed("%s is null", key)
		default:
			if wrong := json.Unmarshal(raw, v.Addr().Interface()); wrong != nil {
				err = malformed("%s: %w", key, wrong)
			}
		}
	})
	if err == nil && foreign != "" {
		err = malformed("%s does not belong to %.40q", foreign, l.Kind)
	}
	return err
}
