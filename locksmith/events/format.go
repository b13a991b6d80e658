package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// MaxLine is the longest line that is written or read, in bytes, its line feed
// included.
const MaxLine = 1 << 16

// ErrMalformed is wrapped by every error that says a line is not an event.
var ErrMalformed = errors.New("malformed event")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

// Format returns the event's line with its line feed. Of a set that is too large for
// one it leaves out what the package's comment says. It refuses, with an error that
// wraps ErrMalformed, what Parse would refuse.
func (e Event) Format() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	line, err := e.line()
	if len(line) > MaxLine && e.isSet() {
		line, err = e.shortened().line()
	}
	if err == nil && len(line) > MaxLine {
		err = malformed("%d bytes, the most is %d", len(line), MaxLine)
	}
	if err != nil {
		return nil, err
	}
	return line, nil
}

// line is the event's line, however long.
func (e Event) line() ([]byte, error) {
	line := []byte{'{'}
	for _, m := range e.members() {
		value, err := encode(m.field(&e))
		if err != nil {
			return nil, malformed("%s: %w", m.key, err)
		}
		if m.optional && saysNothing(value) {
			continue
		}
		if len(line) > 1 {
			line = append(line, ',')
		}
		line = append(line, '"')
		line = append(line, m.key...)
		line = append(line, '"', ':')
		line = append(line, value...)
	}
	return append(line, '}', '\n'), nil
}

func (e *Event) members() []member { return slices.Concat(common, own[e.Kind]) }

// encode prints a value; unlike json.Marshal it leaves <, > and & alone.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

func saysNothing(value []byte) bool {
	switch string(value) {
	case `""`, `0`, `null`, `{}`:
		return true
	}
	return false
}

// check refuses what no helper says.
func (e *Event) check() error {
	_, known := own[e.Kind]
	switch {
	case !known:
		return malformed("event %.40q is not known", e.Kind)
	case len(e.Locks) == 0 || slices.Contains(e.Locks, ""):
		return malformed("locks: there is none, or one without a name")
	case e.PID <= 0:
		return malformed("pid %d is not a process id", e.PID)
	case e.Kind == Acquired && e.ID == "" && !e.isSet():
		return malformed("id is missing")
	case e.Holder != nil && e.Holder.PID < 0:
		return malformed("holder: pid %d is not a process id", e.Holder.PID)
	case (e.Kind == Lost || e.Kind == GaveUp) && e.Code == "":
		return malformed("code is empty")
	case e.Boot < 0 || e.Waited < 0 || e.Late < 0 || e.Release < 0 || e.Held < e.Release:
		return malformed("a time is negative, or release_ms more than held_ms")
	}
	return e.checkSet()
}
