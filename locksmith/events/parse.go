package events

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// Parse reads one line, with or without its line feed. Its errors wrap
// ErrMalformed.
func Parse(line []byte) (Event, error) {
	if len(bytes.TrimSuffix(line, []byte{'\n'}))+1 > MaxLine {
		return Event{}, malformed("more than %d bytes", MaxLine)
	}
	if !utf8.Valid(line) {
		return Event{}, malformed("not UTF-8")
	}
	values, err := object(line)
	if err != nil {
		return Event{}, err
	}
	var e Event
	for _, m := range common {
		if err := m.take(&e, values); err != nil {
			return Event{}, err
		}
	}
	for _, m := range own[e.Kind] {
		if err := m.take(&e, values); err != nil {
			return Event{}, err
		}
	}
	for key := range values {
		if isOwn(key) {
			return Event{}, malformed("%s does not belong to %.40q", key, e.Kind)
		}
	}
	return e, e.check()
}

// object returns the members of the one JSON object of a line.
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
		name := key.(string) // the decoder takes nothing else for a key
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

// take moves a member's value from a line's to the event.
func (m member) take(e *Event, values map[string]json.RawMessage) error {
	raw, ok := values[m.key]
	delete(values, m.key)
	switch {
	case !ok && m.optional:
		return nil
	case !ok:
		return malformed("%s is missing", m.key)
	case string(raw) == "null":
		return malformed("%s is null", m.key)
	}
	if err := json.Unmarshal(raw, m.field(e)); err != nil {
		return malformed("%s: %w", m.key, err)
	}
	return nil
}
